// How a chart is moved, by pointer and by key.

Object.assign(Chart.prototype, {
  listen() {
    const { canvas } = this;
    this.scroller.addEventListener('scroll', this.draw);
    canvas.addEventListener('wheel', (event) => {
      if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-event.deltaY / 200), event.offsetX);
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.move((event.deltaX || event.deltaY) / this.scale);
      } else return;
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener('pointerdown', (event) => {
      this.drag = { x: event.offsetX, left: this.left, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!this.drag) return this.hover(this.nearest(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
      this.drag.moved ||= Math.abs(event.offsetX - this.drag.x) > 3;
      if (this.drag.moved) {
        this.left = this.drag.left - (event.offsetX - this.drag.x) / this.scale;
        this.move(0);
      }
    });
    canvas.addEventListener('pointerup', (event) => {
      const position = this.nearest(event.offsetX, event.offsetY);
      if (this.drag && !this.drag.moved && position >= 0) this.shared.select(this.row(position));
      this.drag = null;
    });
    canvas.addEventListener('pointerleave', () => this.hover(-1));
    canvas.addEventListener('dblclick', (event) => this.zoom(2, event.offsetX));
    canvas.addEventListener('keydown', (event) => this.key(event));
  },

  // From event to event: along a lane, and from lane to lane.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!steps) return;
    event.preventDefault();
    event.stopPropagation();
    const { lanes, positionOfRow, pair } = this.model;
    const selected = positionOfRow[this.shared.row];
    const position = selected >= 0 && this.laneAt(selected) ? selected : pair[0];
    const lane = lanes.indexOf(this.laneAt(position));
    const next = lanes[lane + steps[1]];
    if (!next) return;
    const at = lowerBound(next.positions, position) + steps[0];
    const there = next.positions[Math.max(0, Math.min(next.positions.length - 1, at))];
    if (there !== undefined) this.shared.select(this.row(there));
  },
});

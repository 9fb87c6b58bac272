// Draws one order on a canvas: only what is seen, and no more of it than there are pixels.

const GUTTER = 118;
const AXIS = 22;
const MOST_ARROWS = 250;
const WIDEST = 120;
const OBSERVED = 'Observed order';

class Chart {
  // `shared` has the row that is selected, and is told of changes.
  constructor(model, name, shared) {
    Object.assign(this, { model, name, shared, hovered: -1, left: 0, scale: 10 });
    this.canvas = h('canvas', {
      tabindex: 0,
      role: 'img',
      'aria-label': `${name}. Arrow keys go from event to event.`,
      'aria-describedby': 'event',
    });
    const inner = h('div', { style: `height:${model.height + AXIS + 4}px` }, this.canvas);
    this.scroller = h('div', { class: 'lanes', tabindex: -1 }, inner);
    this.tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
    this.element = h('div', { class: 'chart' }, this.scroller, this.tip);
    this.draw = onceAFrame(() => this.drawNow());
    this.listen();
  }

  get width() { return Math.max(50, this.canvas.clientWidth - GUTTER - 12); }
  get length() { return this.model.course.rows.length; }

  // Both accesses, with some events around them.
  showPair() {
    const [low, high] = [Math.min(...this.model.pair), Math.max(...this.model.pair)];
    const room = Math.max(5, (high - low) * 0.15);
    const wanted = Math.max(high - low + 1 + 2 * room, Math.min(this.length, this.width / 56));
    this.show((low + high + 1 - wanted) / 2, wanted);
  }

  showAll() { this.show(0, this.length); }

  show(from, events) {
    this.scale = this.clamped(this.width / Math.max(1, events));
    this.left = from;
    this.move(0);
  }

  clamped(scale) {
    const all = this.width / Math.max(1, this.length);
    return Math.max(Math.min(all, WIDEST), Math.min(WIDEST, scale));
  }

  move(events) {
    // Room for the text of the last event.
    const most = this.length + Math.min(3, 90 / this.scale) - this.width / this.scale;
    this.left = Math.max(0, Math.min(this.left + events, most));
    this.draw();
  }

  zoom(factor, at = GUTTER + this.width / 2) {
    const position = this.left + (at - GUTTER) / this.scale;
    this.scale = this.clamped(this.scale * factor);
    this.left = position - (at - GUTTER) / this.scale;
    this.move(0);
  }

  x(position) { return GUTTER + (position + 0.5 - this.left) * this.scale; }
  y(lane) { return AXIS + lane.top + 17 - this.scroller.scrollTop; }
  row(position) { return this.model.course.rows[position]; }
  laneAt(position) { return this.model.lanes[this.model.laneOf[this.model.timeline.thread[this.row(position)]]]; }

  drawNow() {
    if (!this.canvas.isConnected) return;
    const [width, height] = [this.scroller.clientWidth, this.scroller.clientHeight];
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      [this.canvas.style.width, this.canvas.style.height] = [`${width}px`, `${height}px`];
    }
    const context = this.canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const names = ['text', 'muted', 'faint', 'line', 'panel', 'sunk', 'first', 'second', 'accent', 'hold', 'shared', 'waiting'];
    this.colours = Object.fromEntries(names.map((name) => [name, theme.colour(name)]));
    this.drawn = { events: 0, regions: 0, arrows: 0 };
    this.from = Math.floor(this.left);
    this.to = Math.min(this.length - 1, Math.ceil(this.left + this.width / this.scale));
    const seen = this.model.lanes.filter((lane) => this.y(lane) + lane.height > 0 && this.y(lane) - 17 < height);
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, width - GUTTER, height);
    context.clip();
    this.drawBackground(context, seen, width, height);
    seen.forEach((lane) => this.drawRegions(context, lane));
    this.drawArrows(context);
    seen.forEach((lane) => this.drawEvents(context, lane));
    this.drawPair(context, height);
    this.drawRing(context, this.hovered, this.colours.muted);
    this.drawRing(context, this.model.positionOfRow[this.shared.row] ?? -1, this.colours.text);
    context.restore();
    this.drawNames(context, seen, height);
    this.drawAxis(context, width);
    this.drawNote(context, width, height);
    Object.assign(this.canvas.dataset, this.drawn);
  }

  drawBackground(context, seen, width, height) {
    context.fillStyle = this.colours.line;
    for (const lane of seen) {
      context.fillRect(GUTTER, this.y(lane), width, 1);
      context.fillRect(0, this.y(lane) - 17 + lane.height, width, 1);
    }
    context.fillStyle = this.colours.sunk;
    for (const gap of this.model.gaps) {
      if (gap >= this.from && gap <= this.to) context.fillRect(this.x(gap - 0.5) - 2, AXIS, 4, height);
    }
  }

  drawRegions(context, lane) {
    const last = Array(LEVELS).fill(-Infinity);
    context.font = '10.5px ui-monospace, monospace';
    context.textBaseline = 'middle';
    for (const region of lane.regions) {
      if (region.from > this.to) break;
      if (region.to < this.from) continue;
      const [left, right] = [this.x(region.from - 0.3), this.x(region.to + (region.open ? 0.5 : 0.3))];
      // What ends in a pixel that is drawn already cannot be seen.
      if (right < last[region.level] + 1) continue;
      last[region.level] = Math.max(right, left + 1.5);
      const [start, end] = [Math.max(GUTTER - 4, left), Math.min(GUTTER + this.width + 20, right)];
      const top = this.y(lane) + 10 + 15 * region.level;
      context.fillStyle = this.colours[['hold', 'shared', 'waiting'][region.hold]];
      context.beginPath();
      context.roundRect(start, top, Math.max(1.5, end - start), 12, 3);
      context.fill();
      this.drawn.regions++;
      if (end - start > 30) {
        context.fillStyle = this.colours.text;
        const text = region.hold === 2 ? `waits on ${region.name}` : region.name;
        context.fillText(fitting(context, text, end - start - 10), start + 5, top + 6.5);
      }
    }
  }

  drawEvents(context, lane) {
    const { timeline, shapes, pair } = this.model;
    const close = this.scale < 5;
    const paint = (positions, own) => {
      let at = lowerBound(positions, this.from);
      while (at < positions.length && positions[at] <= this.to) {
        const position = positions[at];
        const row = this.row(position);
        context.fillStyle = context.strokeStyle = own ? this.colours.accent : this.colours.faint;
        if (close) context.fillRect(this.x(position) - 0.75, this.y(lane) - (own ? 6 : 4), 1.5, own ? 12 : 8);
        else if (!pair.includes(position)) drawShape(context, shapes[timeline.kind[row]], this.x(position), this.y(lane), own ? 4.2 : 3.4, this.colours.panel);
        this.drawn.events++;
        if (!own && !close) this.drawLabel(context, lane, at, row);
        at = close ? Math.max(at + 1, lowerBound(positions, position + 2 / this.scale)) : at + 1;
      }
    };
    paint(lane.positions, false);
    paint(lane.own, true);
  }

  // The text of an event, where there is room before the next one.
  drawLabel(context, lane, at, row) {
    const x = this.x(lane.positions[at]);
    const next = lane.positions[at + 1];
    const room = (next === undefined ? GUTTER + this.width + 30 : this.x(next)) - x - 20;
    if (room < 24) return;
    const event = describe(this.model.timeline, row);
    const own = this.model.pair.includes(lane.positions[at]);
    context.font = `${own ? '600 ' : ''}11px ui-monospace, monospace`;
    context.textBaseline = 'middle';
    context.fillStyle = own ? this.colours.text : this.colours.muted;
    context.fillText(fitting(context, event.text, room), x + (own ? 12 : 10), this.y(lane) - 7);
  }

  drawArrows(context) {
    const { kind, from, to, names } = this.model.course.arrows;
    const seen = [];
    const shared = this.model.positionOfRow[this.shared.row];
    const marked = new Set([...this.model.pair, shared, this.hovered]);
    for (let at = lowerBound(to, this.from); at < to.length; at++) {
      if (from[at] > this.to || (from[at] < this.from && to[at] > this.to)) continue;
      if (!this.laneAt(from[at]) || !this.laneAt(to[at])) continue;
      const weight = marked.has(from[at]) || marked.has(to[at]) ? 2 : names[kind[at]] === 'reads from' ? 0 : 1;
      seen.push([weight, at]);
    }
    if (seen.length > MOST_ARROWS) seen.sort((a, b) => b[0] - a[0]);
    this.leftOut = Math.max(0, seen.length - MOST_ARROWS);
    for (const [weight, at] of seen.slice(0, MOST_ARROWS).reverse()) {
      const ends = [this.x(from[at]), this.y(this.laneAt(from[at])), this.x(to[at]), this.y(this.laneAt(to[at]))];
      context.strokeStyle = context.fillStyle = weight === 2 ? this.colours.text : this.colours.faint;
      context.lineWidth = weight === 2 ? 1.4 : 1;
      context.setLineDash(names[kind[at]] === 'reads from' ? [3, 3] : []);
      drawArrow(context, ...ends);
      this.drawn.arrows++;
    }
    context.setLineDash([]);
    context.lineWidth = 1;
  }

  drawPair(context, height) {
    const [low, high] = [Math.min(...this.model.pair), Math.max(...this.model.pair)];
    if (this.name !== OBSERVED && low >= 0) {
      // Neither has happened when the witness ends: it does not matter which is written first.
      context.fillStyle = this.colours.text;
      context.globalAlpha = 0.06;
      context.fillRect(this.x(low - 0.5), AXIS, (high - low + 1) * this.scale, height);
      context.globalAlpha = 1;
    }
    this.model.pair.forEach((position, side) => {
      const lane = position < 0 ? null : this.laneAt(position);
      if (!lane) return;
      const [x, y] = [this.x(position), this.y(lane)];
      context.strokeStyle = context.fillStyle = this.colours[side ? 'second' : 'first'];
      context.globalAlpha = 0.5;
      context.fillRect(x - 0.5, AXIS, 1, height);
      context.globalAlpha = 1;
      context.beginPath();
      context.arc(x, y, 8.5, 0, 7);
      context.fill();
      context.fillStyle = this.colours.panel;
      context.font = '700 11px system-ui, sans-serif';
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.fillText(side + 1, x, y + 0.5);
      context.textAlign = 'start';
    });
  }

  drawRing(context, position, colour) {
    const lane = position >= 0 ? this.laneAt(position) : null;
    if (!lane) return;
    context.strokeStyle = colour;
    context.lineWidth = 1.6;
    context.beginPath();
    context.arc(this.x(position), this.y(lane), 11, 0, 7);
    context.stroke();
    context.lineWidth = 1;
  }

  drawNames(context, seen, height) {
    context.fillStyle = this.colours.panel;
    context.fillRect(0, 0, GUTTER - 6, height);
    context.textBaseline = 'middle';
    for (const lane of seen) {
      context.font = `${lane.racing ? '600 ' : ''}12px system-ui, sans-serif`;
      context.fillStyle = lane.racing ? this.colours.text : this.colours.muted;
      context.fillText(fitting(context, lane.name, GUTTER - 22), 8, this.y(lane));
    }
  }

  drawAxis(context, width) {
    context.fillStyle = this.colours.panel;
    context.fillRect(0, 0, width, AXIS);
    context.font = '10.5px system-ui, sans-serif';
    context.textBaseline = 'middle';
    context.fillStyle = this.colours.muted;
    const observed = this.name === OBSERVED;
    context.fillText(observed ? 'event' : 'step', 8, AXIS / 2);
    let every = 1;
    for (let at = 0; every * this.scale < 64; at++) every *= [2, 2.5, 2][at % 3];
    context.textAlign = 'center';
    for (let at = Math.ceil(this.from / every) * every; at <= this.to; at += every) {
      const position = Math.max(0, at - 1);
      const x = this.x(position);
      if (x < GUTTER) continue;
      const number = observed ? this.model.timeline.numbers[this.row(position)] : this.model.course.before + position + 1;
      context.fillText(number, x, AXIS / 2);
    }
    context.textAlign = 'start';
    context.fillStyle = this.colours.line;
    context.fillRect(0, AXIS - 1, width, 1);
  }

  // Too many arrows hide everything: says that there are more.
  drawNote(context, width, height) {
    if (!this.leftOut) return;
    const text = `${count(this.leftOut, 'arrow')} not drawn: zoom in`;
    context.font = '11px system-ui, sans-serif';
    const room = context.measureText(text).width + 16;
    context.fillStyle = this.colours.panel;
    context.fillRect(width - room, height - 20, room, 20);
    context.fillStyle = this.colours.muted;
    context.textBaseline = 'middle';
    context.fillText(text, width - room + 8, height - 10);
  }

  // The event that is nearest to a point, if one is near.
  nearest(x, y) {
    const lane = this.model.lanes.find((lane) => Math.abs(this.y(lane) - y) < 14);
    if (!lane || x < GUTTER) return -1;
    const position = this.left + (x - GUTTER) / this.scale - 0.5;
    const at = lowerBound(lane.positions, position);
    const near = [lane.positions[at - 1], lane.positions[at]].filter((p) => p !== undefined);
    near.sort((a, b) => Math.abs(a - position) - Math.abs(b - position));
    return near.length && Math.abs(this.x(near[0]) - x) < 14 ? near[0] : -1;
  }

  hover(position, x, y) {
    if (position !== this.hovered) {
      this.hovered = position;
      this.draw();
    }
    this.tip.hidden = position < 0;
    if (position < 0) return;
    const event = describe(this.model.timeline, this.row(position));
    replace(this.tip, h('b', {}, event.text), h('span', {}, `event ${event.number}, ${event.thread}`),
      event.place && h('span', {}, placeText(event.place)));
    const left = Math.max(0, Math.min(x + 14, this.element.clientWidth - this.tip.offsetWidth - 4));
    Object.assign(this.tip.style, { left: `${left}px`, top: `${y + 16}px` });
  }

  // Selects a row, and scrolls to it.
  reveal(row) {
    const position = this.model.positionOfRow[row];
    if (position === undefined || position < 0) return this.draw();
    const [first, last] = [this.left + 0.5, this.left + this.width / this.scale - 1.5];
    if (position < first || position > last) this.left = position - this.width / this.scale / 2;
    const lane = this.laneAt(position);
    if (lane) {
      const top = lane.top - this.scroller.scrollTop;
      if (top < 0 || top + lane.height > this.scroller.clientHeight - AXIS) this.scroller.scrollTop = lane.top - 20;
    }
    this.move(0);
  }
}

// Text that is cut where there is no room for it.
function fitting(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const letters = Math.floor(room / context.measureText('n').width) - 1;
  return letters > 1 ? `${text.slice(0, letters)}…` : '';
}

function drawShape(context, shape, x, y, size, inside) {
  context.beginPath();
  if (shape === 'tick') return context.fillRect(x - 0.75, y - 5, 1.5, 10);
  if (shape === 'square') context.rect(x - size + 0.5, y - size + 0.5, 2 * size - 1, 2 * size - 1);
  else if (shape.startsWith('circle')) context.arc(x, y, size, 0, 7);
  else {
    context.moveTo(x, y - size - 1);
    [[x + size + 1, y], [x, y + size + 1], [x - size - 1, y]].forEach(([a, b]) => context.lineTo(a, b));
    context.closePath();
  }
  if (shape.endsWith('open')) {
    context.fillStyle = inside;
    context.fill();
    context.lineWidth = 1.6;
    context.stroke();
    context.lineWidth = 1;
  } else context.fill();
}

function drawArrow(context, x1, y1, x2, y2) {
  const bend = Math.min(60, Math.max(8, Math.abs(x2 - x1) / 2));
  const down = y2 > y1 ? 1 : -1;
  const [startY, endY] = [y1 + 6 * down, y2 - 7 * down];
  context.beginPath();
  context.moveTo(x1, startY);
  context.bezierCurveTo(x1 + bend / 3, startY + (endY - startY) * 0.5, x2 - bend / 3, endY - (endY - startY) * 0.4, x2, endY);
  context.stroke();
  context.beginPath();
  context.moveTo(x2, endY + 2 * down);
  context.lineTo(x2 - 3.5, endY - 4 * down);
  context.lineTo(x2 + 3.5, endY - 4 * down);
  context.fill();
}

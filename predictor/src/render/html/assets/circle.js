// Threads that wait for each other, drawn as a ring: each thread, and between it and the next one what it waits for.

const RING = { width: 640, height: 340, thread: [150, 46], object: [150, 30] };

// An element of a drawing; all text in it is a text node, as elsewhere.
function svg(tag, attributes, ...children) {
  const space = document.getElementById('vector').content.firstElementChild.namespaceURI;
  const element = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, String(value));
  append(element, children);
  return element;
}

function waitsFor(part, finding) {
  const name = finding.shown.waiting?.names[part.object] ?? part.object ?? '';
  const by = (part.waits.by ?? []).join(' and ');
  switch (part.waits.for) {
    case 'lock': return by ? `${name}, held by ${by}` : name;
    case 'waiting-writers': return by ? `${name}, kept out by ${by}, which waits to write` : name;
    case 'initialiser': return by ? `${name}, initialised by ${by}` : name;
    case 'thread-end': return `the end of ${part.object}`;
    case 'notification': return `a notification of ${name}`;
    case 'unpark': return 'being unparked';
    case 'message': return `a message of ${name}`;
    case 'room': return `room in ${name}`;
    case 'arrivals': return `other threads at ${name}`;
    case 'end-of-scope': return by ? `the end of ${by}, in a scope` : 'the end of a scope';
    default: return part.waits.for;
  }
}

// Texts have no width of their own here: the end of a long one is what tells it apart.
const shortened = (text, most) => (text.length > most ? `…${text.slice(text.length - most + 1)}` : text);

function circleFigure(finding) {
  const { waiting } = finding.shown;
  const parts = waiting.parts.map((at) => finding.best.parts[at]);
  const all = 2 * parts.length;
  const spot = (at) => {
    const angle = (2 * Math.PI * at) / all - Math.PI / 2 - Math.PI / all * (parts.length === 1 ? 0 : 1);
    return [
      RING.width / 2 + Math.cos(angle) * (RING.width / 2 - 90),
      RING.height / 2 + Math.sin(angle) * (RING.height / 2 - 40),
    ];
  };
  const nodes = parts.flatMap((part, at) => [
    threadNode(part, spot(2 * at), at),
    objectNode(part, spot(2 * at + 1), finding),
  ]);
  const arrows = Array.from({ length: all }, (_, at) => {
    const label = at % 2 === 0 ? 'waits for' : holdWord(parts[(at - 1) / 2]);
    const sizes = at % 2 === 0 ? [RING.thread, RING.object] : [RING.object, RING.thread];
    return arrow(spot(at), spot((at + 1) % all), sizes, label);
  });
  return h('div', { class: 'scrolls' },
    svg('svg', {
      class: 'ring', role: 'img', 'aria-label': waiting.text,
      viewBox: `0 0 ${RING.width} ${RING.height}`, width: RING.width, height: RING.height,
    }, arrows, nodes));
}

function holdWord(part) {
  switch (part.waits.for) {
    case 'thread-end': return 'is the end of';
    case 'waiting-writers': return 'is asked for by';
    case 'initialiser': return 'is initialised by';
    case 'end-of-scope': return 'needs the end of';
    default: return 'is held by';
  }
}

function threadNode(part, [x, y], at) {
  const [width, height] = RING.thread;
  return svg('g', { class: `ring-thread side-${at + 1}` },
    svg('title', {}, `${part.thread} at ${placeText(part.place)}`),
    svg('rect', { x: x - width / 2, y: y - height / 2, width, height, rx: 8 }),
    svg('text', { x, y: y - 4, class: 'ring-name' }, shortened(part.thread, 18)),
    svg('text', { x, y: y + 13, class: 'ring-place' }, shortened(placeText(part.place), 24)));
}

function objectNode(part, [x, y], finding) {
  const [width, height] = RING.object;
  const name = { 'thread-end': `end of ${part.object}`, 'end-of-scope': 'end of the scope' }[part.waits.for]
    ?? finding.shown.waiting.names[part.object] ?? part.object ?? '';
  return svg('g', { class: 'ring-object' },
    svg('title', {}, name),
    svg('rect', { x: x - width / 2, y: y - height / 2, width, height, rx: height / 2 }),
    svg('text', { x, y: y + 4 }, shortened(name, 20)));
}

// From the edge of one node to that of the next.
function arrow([fromX, fromY], [toX, toY], sizes, label) {
  const [dx, dy] = [toX - fromX, toY - fromY];
  const [out, back] = sizes.map(([width, height]) => Math.min(
    dx ? (width / 2 + 6) / Math.abs(dx) : Infinity,
    dy ? (height / 2 + 6) / Math.abs(dy) : Infinity,
  ));
  const [startX, startY] = [fromX + dx * out, fromY + dy * out];
  const [endX, endY] = [toX - dx * back, toY - dy * back];
  const turn = Math.atan2(dy, dx);
  const corner = (by) => `${endX - 9 * Math.cos(turn + by)},${endY - 9 * Math.sin(turn + by)}`;
  return svg('g', { class: 'ring-arrow' },
    svg('line', { x1: startX, y1: startY, x2: endX, y2: endY }),
    svg('polygon', { points: `${endX},${endY} ${corner(0.45)} ${corner(-0.45)}` }),
    svg('text', { x: (startX + endX) / 2, y: (startY + endY) / 2 + 4 }, label));
}

// What the report says. Timelines are unpacked when they are looked at.

const block = (id) => JSON.parse(byId(id).textContent);
const report = block('report');
const project = report.project;
const traces = new Map(project.traces.map((trace) => [trace.name, trace]));

const STATUS = {
  'confirmed-harmful': 'confirmed, harmful',
  confirmed: 'confirmed',
  diverged: 'replay diverged',
  failed: 'replay failed',
  predicted: 'predicted',
  seen: 'seen by a detector',
  happened: 'happened',
};

const LEVEL = {
  proven: 'proven',
  predicted: 'predicted',
  doubtful: 'doubtful',
};

// What findings have in common stands in tables, to whose rows they refer; see docs/REPORT.md.
const TABLES = {
  trace: 'names', thread: 'names', place: 'places', spawned: 'places', taken: 'places', first_use: 'places',
  kind: 'kinds', subject: 'subjects', reason: 'reasons', doubts: 'doubts', parts: 'parts',
};
const wholeRows = {};

function tableRow(table, number) {
  if (typeof number !== 'number') return whole(number);
  const rows = (wholeRows[table] ??= []);
  return (rows[number] ??= whole(project.tables[table][number]));
}

function whole(value) {
  if (Array.isArray(value)) return value.map(whole);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, wholeField(name, inner)]));
}

function wholeField(name, value) {
  const table = TABLES[name];
  if (name === 'steps' && Array.isArray(value)) {
    return value.map(([skipped, event]) => ({ skipped, ...tableRow('events', event) }));
  }
  if (table && Array.isArray(value)) return value.map((number) => tableRow(table, number));
  return table && typeof value === 'number' ? tableRow(table, value) : whole(value);
}

const findings = project.findings.map((written, at) => {
  const finding = whole(written);
  finding.occurrences = finding.occurrences.map((it) => ({ steps: [], also: [], left_out: 0, ...it }));
  const shown = { timeline: null, replay: [], doubts: [], ...report.findings[at] };
  const best = finding.occurrences[shown.best];
  const { code } = finding.kind;
  const status = statusOf(best);
  const tests = finding.occurrences.map((occurrence) => testOf(occurrence.trace));
  const words = [
    code, shown.title, STATUS[status], LEVEL[finding.level], finding.fingerprint, ...tests,
    ...best.parts.flatMap((part) => [placeText(part.place), part.operation]),
    shown.name,
    ...finding.occurrences.flatMap((occurrence) => [occurrence.trace, occurrence.subject?.name]),
  ];
  return { ...finding, code, shown, best, status, tests, text: words.join('\n').toLowerCase() };
});

function statusOf(occurrence) {
  if (occurrence.replay) return occurrence.replay.status;
  if (occurrence.witness) return 'predicted';
  return occurrence.reason.kind === 'hang' ? 'happened' : 'seen';
}

function testOf(name) {
  const trace = traces.get(name);
  return trace?.test ?? trace?.program ?? name;
}

function placeText(place) {
  if (!place) return 'unknown place';
  return [place.file, place.line, place.column].filter((part) => part !== 0).join(':');
}

const sourceLine = (place) => report.files[place?.file]?.[place?.line];

const DIGITS = new Uint8Array(128);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'].forEach((digit, value) => {
  DIGITS[digit.charCodeAt(0)] = value;
});

// A column: numbers of five bits a character, the lowest first; see pack.rs.
function unpack(text) {
  const numbers = new Uint32Array(text.length);
  let [length, number, shift] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const digit = DIGITS[text.charCodeAt(at)];
    number |= (digit & 31) << shift;
    if (digit & 32) shift += 5;
    else {
      numbers[length++] = number;
      number = shift = 0;
    }
  }
  return numbers.slice(0, length);
}

// A column that has how much each number adds to the one before.
function unpackGrowth(text) {
  const numbers = unpack(text);
  for (let at = 1; at < numbers.length; at++) numbers[at] += numbers[at - 1];
  return numbers;
}

// Numbers as stretches: `1-4 9 10`.
function unpackRanges(text) {
  const numbers = [];
  for (const word of text ? text.split(' ') : []) {
    const [first, last] = word.split('-').map(Number);
    for (let number = first; number <= (last ?? first); number++) numbers.push(number);
  }
  return Uint32Array.from(numbers);
}

function unpackCourse({ all, before, rows, regions, arrows }) {
  const [arrowTo, arrowLength] = [unpackGrowth(arrows.to), unpack(arrows.length)];
  return {
    all,
    before,
    rows: unpackRanges(rows).map((row) => row - 1),
    regions: {
      names: regions.names,
      thread: unpack(regions.thread),
      hold: unpack(regions.hold),
      name: unpack(regions.name),
      from: unpackGrowth(regions.from),
      length: unpack(regions.length),
    },
    arrows: {
      names: report.arrows,
      kind: unpack(arrows.kind),
      to: arrowTo,
      from: arrowTo.map((to, at) => to - arrowLength[at]),
    },
  };
}

const unpacked = new Map();

// The events of a trace and their observed order.
function timelineOf(number) {
  if (!unpacked.has(number)) {
    const packed = block(`timeline-${number}`);
    const columns = ['thread', 'kind', 'object', 'detail', 'place'];
    const events = Object.fromEntries(columns.map((name) => [name, unpack(packed[name])]));
    unpacked.set(number, {
      ...packed,
      ...events,
      numbers: unpackRanges(packed.numbers),
      observed: unpackCourse(packed.observed),
    });
  }
  return unpacked.get(number);
}

const witnessOf = (finding) =>
  finding.shown.witness ? unpackCourse(block(`witness-${finding.number}`)) : null;

// What an event does, and where.
function describe(timeline, row) {
  const word = (table, index) => (index ? table[index - 1] : null);
  const kind = timeline.kinds[timeline.kind[row]];
  const object = word(timeline.objects, timeline.object[row]);
  const detail = word(timeline.details, timeline.detail[row]);
  return {
    number: timeline.numbers[row],
    thread: timeline.threads[timeline.thread[row]],
    kind,
    object,
    detail,
    text: [kind, object, detail].filter((part) => part !== null).join(' '),
    place: word(timeline.places, timeline.place[row]),
  };
}

// The timeline of a finding: the observed order above, the witness below.

// What is shown stays when another finding is chosen.
const shownOrders = { value: 'both' };
let currentTimeline = null;

function timelineSection(finding) {
  currentTimeline = null;
  const { timeline: number, rows: pair } = finding.shown;
  if (number === null) {
    return h('p', { class: 'nothing' }, 'There is no timeline: the trace was not there, or has changed, when this page was written.');
  }
  const timeline = timelineOf(number);
  const witness = witnessOf(finding);
  const racing = [...new Set(pair.map((row) => timeline.thread[row]))].sort((a, b) => a - b);
  const all = timeline.threads.map((_, thread) => thread);
  const shared = { row: -1, select };
  let charts = [];
  const about = h('div', { id: 'event', class: 'event', role: 'status' });
  const hosts = { observed: h('div', {}), witness: h('div', {}) };
  // Long lists of threads hide what matters.
  const few = h('input', { type: 'checkbox', onchange: build });
  few.checked = all.length > 12;

  function build() {
    const threads = few.checked ? racing : all;
    charts = [['observed', timeline.observed, OBSERVED], ['witness', witness, 'Order of the witness']]
      .filter(([, course]) => course)
      .map(([name, course, label]) => {
        const chart = new Chart(layOut(timeline, course, pair, threads), label, shared);
        chart.order = name;
        replace(hosts[name], h('h4', {}, label, h('span', {}, extent(timeline, course, name))), chart.element);
        return chart;
      });
    show(shownOrders.value);
    charts.forEach((chart) => chart.showPair());
  }

  function show(which) {
    shownOrders.value = which;
    hosts.observed.hidden = which === 'witness' && Boolean(witness);
    hosts.witness.hidden = which === 'observed' || !witness;
    choices.forEach((choice) => { choice.checked = choice.value === which; });
    charts.filter((chart) => !hosts[chart.order].hidden).forEach((chart) => chart.draw());
  }

  function select(row) {
    shared.row = row;
    const event = describe(timeline, row);
    const side = pair.indexOf(row);
    const line = sourceLine(event.place);
    replace(about,
      side >= 0 && h('span', { class: `side-mark side-${side + 1}` }, side + 1),
      h('b', {}, event.text), h('span', {}, `event ${event.number}, thread ${event.thread}`),
      event.place && h('span', {}, placeText(event.place)),
      line && h('code', {}, coloured(line.trim())));
    charts.forEach((chart) => chart.reveal(row));
  }

  const choices = ['both', 'observed', 'witness'].map((value) =>
    h('input', { type: 'radio', name: 'orders', value, disabled: value === 'witness' && !witness, onchange: () => show(value) }));
  const each = (what) => () => charts.forEach((chart) => chart[what]());
  const zoom = (factor) => () => charts.forEach((chart) => chart.zoom(factor));
  const button = (text, title, onclick) => h('button', { type: 'button', title, onclick }, text);
  currentTimeline = {
    show: (which) => { if (which !== 'witness' || witness) show(which); },
    pair: each('showPair'),
    all: each('showAll'),
    zoom: (factor) => zoom(factor)(),
    redraw: each('draw'),
    start: build,
  };
  replace(about, 'Point at an event, or go there by the arrow keys.');
  return [
    h('div', { class: 'bar' },
      h('fieldset', { class: 'choice' }, h('legend', {}, 'Orders'),
        choices.map((choice) => h('label', {}, choice, h('span', {}, choice.value)))),
      h('label', { class: 'check' }, few, 'only its threads'),
      h('span', { class: 'buttons' },
        button('Pair', 'Show where its threads stand (p)', each('showPair')), button('All', 'Show all events (f)', each('showAll')),
        button('+', 'Zoom in (+)', zoom(1.6)), button('−', 'Zoom out (−)', zoom(1 / 1.6)))),
    hosts.observed, hosts.witness,
    finding.shown.undrawn && h('p', { class: 'nothing' },
      `The order of the witness is not drawn: there are too many findings. "cargo racelog report --format perfetto --finding ${finding.number}" draws it.`),
    about, legend(),
  ];
}

// How much of an order is there to be seen.
function extent(timeline, course, name) {
  const shown = course.rows.length;
  const what = name === 'observed' ? 'event' : 'step';
  if (shown === course.all) return count(shown, what);
  const part = name === 'observed' ? 'around what was found in this trace' : 'the last before it';
  return `${shown.toLocaleString('en')} of ${count(course.all, what)}: ${part}`;
}

function legend() {
  const item = (kind, text) => h('span', {}, h('i', { class: `sign ${kind}` }), text);
  return h('p', { class: 'legend' },
    item('own', 'same variable'), item('write', 'write'), item('read', 'read'), item('atomic', 'atomic'),
    item('hold', 'lock held'), item('shared', 'held shared'), item('waiting', 'waits'),
    item('solid', 'starts, wakes or sends'), item('dashed', 'reads from'));
}

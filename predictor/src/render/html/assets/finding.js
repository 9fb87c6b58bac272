// All that is known about one finding.

function showFinding(finding) {
  const detail = byId('detail');
  if (!finding) {
    const text = findings.length ? 'No finding fits these filters.' : 'Nothing was found.';
    // Nothing found says nothing of what was not seen.
    const gaps = findings.length ? [] : report.gaps;
    return replace(detail, h('p', { class: 'nothing' }, text),
      gaps.map((gap) => h('p', { class: 'nothing' }, `Not seen: ${gap}.`)));
  }
  const { best } = finding;
  replace(detail,
    h('header', { class: 'finding-head' },
      h('p', { class: 'badges' }, badges(finding)),
      h('h2', {}, finding.shown.title, best.subject && [' on ', h('code', {}, finding.shown.name)]),
      h('p', { class: 'why' }, sentence(best.reason.text)),
      finding.shown.waiting && h('p', { class: 'why' }, sentence(finding.shown.waiting.text)),
      finding.shown.doubts.map((doubt) => h('p', { class: 'doubt' }, h('b', {}, 'Doubt: '), sentence(doubt))),
      h('p', { class: 'why' }, h('b', {}, 'What to do: '), sentence(report.advice[finding.shown.advice])),
      finding.suppressed && h('p', { class: 'why' }, `Suppressed by ${finding.suppressed.by}: ${finding.suppressed.reason}`)),
    finding.shown.waiting?.circle && section('circle', 'Who waits for whom', circleFigure(finding)),
    h('div', { class: 'sides' }, sideCards(finding)),
    section('timeline', 'Timeline', timelineSection(finding)),
    section('replay', finding.kind.noun === 'race' ? 'What follows, by which goes first' : 'What a replay shows', replaySection(finding)),
    best.steps.length > 0 && section('schedule', 'Schedule', scheduleSection(finding)),
    section('occurrences', 'Occurrences', occurrencesSection(finding)),
    h('footer', {}, facts([
      ['found by', best.detectors.join(', ')],
      ['decided by', best.solver],
      ['variable', best.subject && `${best.subject.what}${best.subject.first_use ? `, first used at ${placeText(best.subject.first_use)}` : ''}`],
      ['in the trace', best.subject?.name],
      ...best.also.map((pair) => ['not ordered either', pair.map((op) => `${op.operation}${op.place ? ` at ${placeText(op.place)}` : ''}`).join(' and ')]),
      ['fingerprint', finding.fingerprint],
    ])));
  detail.scrollTop = 0;
  currentTimeline?.start();
  remember(finding);
}

// Makes the address one that leads here.
function remember(finding) {
  try {
    history.replaceState(null, '', `#${finding.fingerprint}`);
  } catch {
    // Where a page is shown within another one, that may be forbidden; then there is no such address.
  }
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');

function section(id, title, content) {
  return h('section', { class: 'part', 'aria-labelledby': `${id}-title` }, h('h3', { id: `${id}-title` }, title), content);
}

function facts(pairs) {
  const there = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return h('dl', { class: 'facts' }, there.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

// What parts have to do with a finding that are not where its threads stand.
const ROLE = {
  taken: 'takes what is waited for: ',
  'waits-too': 'waits, too: ',
  'too-early': 'too early: ',
  elsewhere: 'went elsewhere: ',
  merged: 'merged with the one before: ',
  dropped: 'receiver dropped: ',
};

function sideCards(finding) {
  const { best } = finding;
  const { parts } = best;
  return parts.map((part, at) => {
    const marks = new Map();
    // The others may stand close by.
    [...parts.keys()].filter((which) => which !== at).concat(at).forEach((which) => {
      const there = parts[which].place;
      if (there && there.file === part.place?.file) marks.set(there.line, `marked side-${which + 1}`);
    });
    const value = part.new_value === undefined ? part.value : `${part.value} → ${part.new_value}`;
    const locks = (part.locks ?? []).map((lock) => {
      const name = finding.shown.waiting?.names[lock.name] ?? lock.name;
      return `${name}${lock.shared ? ' (shared)' : ''}${lock.taken ? ` from ${placeText(lock.taken)}` : ''}`;
    });
    const what = best.subject ? 'Access' : 'Event';
    return h('section', { class: `card side-${at + 1}`, 'aria-label': `${what} ${at + 1}` },
      h('h3', {}, h('span', { class: `side-mark side-${at + 1}` }, at + 1),
        `${ROLE[part.role] ?? ''}${part.atomic ? 'atomic ' : ''}${part.operation}${part.object ? ` ${finding.shown.waiting?.names[part.object] ?? part.object}` : ''}`, h('span', { class: 'place' }, placeText(part.place))),
      snippet(part.place, marks),
      facts([
        ['thread', `${part.thread}${part.spawned ? `, spawned at ${placeText(part.spawned)}` : ''}`],
        ['value', value === '_' ? null : value],
        ['waits for', part.waits && waitsFor(part, finding)],
        ['holds', locks.length ? locks.join(', ') : 'no lock'],
      ]));
  });
}

function replaySection({ best, shown }) {
  if (!best.replay) {
    const text = best.reason.kind === 'hang' ? 'There is nothing to replay: it happened in the run as it was.' : best.witness
      ? 'Not replayed yet. The witness below proves it; a replay shows what the program makes of it.'
      : 'There is no schedule to replay: a detector saw this in the run as it was.';
    return h('p', { class: 'nothing' }, text);
  }
  return h('div', { class: `outcome ${best.replay.status}` },
    h('p', {}, h('span', { class: `badge status ${best.replay.status}` }, STATUS[best.replay.status])),
    shown.replay.map((line) => h('p', {}, line)));
}

function scheduleSection(finding) {
  const { best } = finding;
  const numbers = best.parts.map((part) => part.event);
  const rows = best.steps.flatMap((step) => {
    const side = numbers.indexOf(step.event) + 1;
    const line = sourceLine(step.place);
    return [
      step.skipped > 0 && h('tr', { class: 'skipped' }, h('td', { colspan: 4 }, `${count(step.skipped, 'step')} left out`)),
      h('tr', { class: side ? `marked side-${side}` : null },
        h('td', { class: 'number' }, step.event),
        h('td', {}, side ? h('span', { class: `side-mark side-${side}` }, side) : null, step.thread),
        h('td', {}, h('code', {}, [step.operation, step.object, step.operands].filter(Boolean).join(' '))),
        h('td', {}, step.place && h('span', { class: 'place' }, placeText(step.place)), line && h('code', { class: 'step-line' }, coloured(line.trim())))),
    ];
  });
  const intro = `The events in an order that is possible, too. After it the threads stand where the finding says.${
    best.left_out ? ` ${count(best.left_out, 'step')} that matter less are left out.` : ''}`;
  return [
    h('p', {}, intro),
    h('div', { class: 'scrolls' }, h('table', {},
      h('thead', {}, h('tr', {}, ['event', 'thread', 'does', 'at'].map((text, at) => h('th', { scope: 'col', class: at ? null : 'number' }, text)))),
      h('tbody', {}, rows))),
  ];
}

const MOST_OCCURRENCES = 100;

function occurrencesSection(finding) {
  const shown = finding.occurrences.slice(0, MOST_OCCURRENCES);
  const rows = shown.map((occurrence) => h('tr', {},
    h('td', {}, testOf(occurrence.trace)),
    h('td', {}, occurrence.trace),
    h('td', { class: 'number' }, occurrence.parts.map((part) => part.event).join(', ')),
    h('td', {}, STATUS[statusOf(occurrence)]),
    h('td', {}, occurrence.detectors.join(', '))));
  return [
    h('div', { class: 'scrolls' }, h('table', {},
      h('thead', {}, h('tr', {}, ['test', 'trace', 'events', 'status', 'found by'].map((text) => h('th', { scope: 'col' }, text)))),
      h('tbody', {}, rows))),
    finding.occurrences.length > MOST_OCCURRENCES && h('p', {}, `and ${count(finding.occurrences.length - MOST_OCCURRENCES, 'other')}`),
  ];
}

// An order of events, laid out in lanes: what a chart draws.

const LEVELS = 3;
const READS = new Set(['read', 'load', 'cas_fail']);
const WRITES = new Set(['write', 'store', 'rmw', 'cas', 'exclusive']);
const ATOMIC = new Set(['load', 'store', 'rmw', 'cas', 'cas_fail']);
const LOCKS = new Set(['acquire', 'release', 'racquire', 'rrelease', 'acquire_fail', 'racquire_fail']);

// How each kind of event of a timeline looks.
function shapes(timeline) {
  return timeline.kinds.map((kind) => {
    if (kind === 'branch' || LOCKS.has(kind)) return 'tick';
    const access = READS.has(kind) || WRITES.has(kind);
    if (!access) return 'square';
    return (ATOMIC.has(kind) ? 'diamond' : 'circle') + (READS.has(kind) ? '-open' : '');
  });
}

// `threads` are those that get a lane; `pair` are the rows of the racing accesses.
function layOut(timeline, course, pair, threads) {
  const positionOfRow = new Int32Array(timeline.numbers.length).fill(-1);
  course.rows.forEach((row, position) => { positionOfRow[row] = position; });
  const object = timeline.object[pair[0]];
  const racing = new Set(pair.map((row) => timeline.thread[row]));
  const laneOf = new Int32Array(timeline.threads.length).fill(-1);
  threads.forEach((thread, lane) => { laneOf[thread] = lane; });
  const lanes = threads.map((thread) => ({
    thread,
    name: timeline.threads[thread],
    racing: racing.has(thread),
    positions: [],
    own: [],
    regions: [],
    levels: 0,
  }));
  course.rows.forEach((row, position) => {
    const lane = lanes[laneOf[timeline.thread[row]]];
    if (!lane) return;
    lane.positions.push(position);
    if (timeline.object[row] === object) lane.own.push(position);
  });
  addRegions(course, lanes, laneOf);
  let top = 0;
  for (const lane of lanes) {
    lane.positions = Uint32Array.from(lane.positions);
    lane.own = Uint32Array.from(lane.own);
    lane.top = top;
    lane.height = 36 + 15 * lane.levels;
    top += lane.height;
  }
  return {
    timeline, course, lanes, laneOf, positionOfRow,
    shapes: shapes(timeline),
    height: top,
    pair: pair.map((row) => positionOfRow[row]),
    gaps: gaps(timeline, course),
  };
}

// Regions of a lane that overlap stand below each other.
function addRegions(course, lanes, laneOf) {
  const { thread, hold, name, names, from, length } = course.regions;
  const ends = lanes.map(() => []);
  for (let at = 0; at < from.length; at++) {
    const index = laneOf[thread[at]];
    if (index < 0) continue;
    const [lane, open] = [lanes[index], ends[index]];
    let level = open.findIndex((end) => end < from[at]);
    if (level < 0) level = Math.min(open.length, LEVELS - 1);
    open[level] = from[at] + length[at];
    lane.levels = Math.max(lane.levels, level + 1);
    lane.regions.push({
      from: from[at],
      to: from[at] + length[at],
      level,
      hold: hold[at] & 3,
      open: (hold[at] & 4) !== 0,
      name: names[name[at]],
    });
  }
}

// The positions before which events of the observed order are left out.
function gaps(timeline, course) {
  if (timeline.numbers.length === timeline.total || course !== timeline.observed) return [];
  const gaps = [];
  for (let at = 1; at < timeline.numbers.length; at++) {
    if (timeline.numbers[at] !== timeline.numbers[at - 1] + 1) gaps.push(at);
  }
  return gaps;
}

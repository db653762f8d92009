// Draws a run: the drawing with each node's result, time and cost.

const SCALE = 0.56;
const [WIDTH, HEIGHT, MARGIN, HEAD] = [260, 150, 40, 110];
const COLOURS = {
  succeed: { line: '#1a7f37', fill: '#f0fff4' },
  failed: { line: '#cf222e', fill: '#fff5f5' },
  'not taken': { line: '#afb8c1', fill: '#f6f8fa' },
};
const KINDS = {
  'trigger-node': 'trigger',
  'if-else-node': 'condition',
  'basic-node': 'LLM',
  'http-node': 'HTTP',
  'mcp-node': 'MCP tool',
  'agent-node': 'agent',
};

/**
 * Returns SVG. `run` is `{title, status, seconds, cost}`. `facts` has `{status, content, seconds, cost}` by node id,
 * without the nodes that were not reached.
 */
export function drawRun(drawing, run, facts) {
  const boxes = new Map(drawing.nodes.map((node) => [node.id, place(node, drawing.nodes)]));
  const width = Math.max(...[...boxes.values()].map(({ x }) => x)) + WIDTH + MARGIN;
  const height = Math.max(...[...boxes.values()].map(({ y }) => y)) + HEIGHT + MARGIN;
  const edges = drawing.nodes.flatMap((node) => edgesOf(node).map((edge) => drawEdge(edge, boxes, facts)));
  const nodes = drawing.nodes.map((node) => drawNode(node, boxes.get(node.id), facts[node.id]));
  const summary = `${run.status} · ${run.seconds.toFixed(1)} s · ${run.cost}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${Math.round(width * SCALE)}" font-family="system-ui, sans-serif" role="img" aria-label="${escape(`A run of the workflow ${run.title}: ${summary}`)}">
<rect width="${width}" height="${height}" rx="16" fill="#ffffff" stroke="#d0d7de"/>
<text x="${MARGIN}" y="56" font-size="28" font-weight="600" fill="#1f2328">${escape(run.title)}</text>
<text x="${MARGIN}" y="88" font-size="20" fill="#59636e">${escape(summary)}</text>
${[...edges, ...nodes].join('\n')}
</svg>
`;
}

function place({ position }, nodes) {
  const left = Math.min(...nodes.map((node) => node.position.x));
  const top = Math.min(...nodes.map((node) => node.position.y));
  return { x: position.x - left + MARGIN, y: (position.y - top) * 0.7 + HEAD };
}

function edgesOf({ id, data }) {
  const { next_nodes: next = [], true_node: yes, false_node: no } = data;
  const branches = [...(yes ? [{ to: yes, word: 'true' }] : []), ...(no ? [{ to: no, word: 'false' }] : [])];
  return [...next.map((to) => ({ to, word: '' })), ...branches].map((edge) => ({ from: id, ...edge }));
}

function drawEdge({ from, to, word }, boxes, facts) {
  const [a, b] = [boxes.get(from), boxes.get(to)];
  const isTaken = facts[from] !== undefined && facts[to] !== undefined;
  const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
  const middle = (x1 + x2) / 2;
  const line = isTaken
    ? 'stroke="#1a7f37" stroke-width="4"'
    : 'stroke="#afb8c1" stroke-width="3" stroke-dasharray="8 8"';
  const label =
    word && `<text x="${x1 + 8}" y="${y1 + (y2 > y1 ? 34 : -18)}" font-size="18" fill="#59636e">${word}</text>`;
  return `<path d="M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}" fill="none" ${line}/>${label}`;
}

function drawNode({ type, data }, { x, y }, fact) {
  const { line, fill } = COLOURS[fact?.status ?? 'not taken'];
  const took =
    fact === undefined
      ? 'not taken'
      : [...(fact.seconds > 0.05 ? [`${fact.seconds.toFixed(1)} s`] : []), ...fact.cost].join(' · ');
  const text = (offset, size, colour, words) =>
    `<text x="${x + 14}" y="${y + offset}" font-size="${size}" fill="${colour}">${escape(words)}</text>`;
  return [
    `<rect x="${x}" y="${y}" width="${WIDTH}" height="${HEIGHT}" rx="12" fill="${fill}" stroke="${line}" stroke-width="3"/>`,
    text(30, 17, line, KINDS[type] ?? type),
    text(60, 21, '#1f2328', data.label),
    text(94, 17, '#59636e', shorten(fact?.content ?? '', 24)),
    text(128, 17, line, took),
  ].join('');
}

function shorten(content, length) {
  const text = content.replaceAll(/\s+/g, ' ').trim();
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function escape(text) {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]);
}

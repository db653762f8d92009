// A line chart as SVG: axes with units, a legend, and a bar at each point from the lowest to the highest round.
export interface Point {
  x: number;
  y: number;
  /** Lowest and highest round; the same as `y` where there was one. */
  min: number;
  max: number;
}

export interface Series {
  name: string;
  points: Point[];
}

export interface LineChart {
  title: string;
  /** With its unit. */
  xLabel: string;
  yLabel: string;
  /** Logarithmic where x spans orders of magnitude. */
  xScale: 'linear' | 'log';
  series: Series[];
}

const WIDTH = 760;
const HEIGHT = 420;
const PLOT = { left: 70, right: 560, top: 50, bottom: 350 };
/** Told apart also without colour vision. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];
const DASHES = ['', '6 3', '2 3', '8 3 2 3', '1 2', '10 4'];
const FONT = 'font-family="system-ui, sans-serif"';

export function toLineChart({ title, xLabel, yLabel, xScale, series }: LineChart): string {
  const points = series.flatMap((line) => line.points);
  const xs = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => a - b);
  const step = niceStep(Math.max(...points.map(({ max }) => max)) / 5);
  const top = step * Math.ceil(Math.max(...points.map(({ max }) => max)) / step);
  const toX = horizontal(xs, xScale);
  const toY = (value: number): number => PLOT.bottom - (value / top) * (PLOT.bottom - PLOT.top);
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(PLOT.left, 28, title, 'font-size="16" font-weight="600"'),
    ...yAxis(step, top, toY, yLabel),
    ...xAxis(xs, toX, xLabel),
    ...series.flatMap((line, index) => [...curve(line, index, toX, toY), ...legend(line, index)]),
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

function horizontal(xs: readonly number[], scale: LineChart['xScale']): (x: number) => number {
  const place = (x: number): number => (scale === 'log' ? Math.log10(x) : x);
  // Counts begin at nought, as far as the axis can show it.
  const first = scale === 'log' ? place(xs[0]!) : 0;
  const span = place(xs.at(-1)!) - first || 1;
  return (x) => PLOT.left + ((place(x) - first) / span) * (PLOT.right - PLOT.left);
}

/** 1, 2 or 5 times a power of ten, not below `least`. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

function yAxis(step: number, top: number, toY: (value: number) => number, label: string): string[] {
  const middle = (PLOT.top + PLOT.bottom) / 2;
  const lines = [
    text(20, middle, label, `font-size="12" text-anchor="middle" transform="rotate(-90 20 ${round(middle)})"`),
  ];
  for (let tick = 0; tick * step <= top + step / 2; tick++) {
    const value = tick * step;
    const y = round(toY(value));
    lines.push(`<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y}" y2="${y}" stroke="#dddddd"/>`);
    lines.push(text(PLOT.left - 8, y + 4, String(Number(value.toPrecision(6))), 'font-size="12" text-anchor="end"'));
  }
  return lines;
}

function xAxis(xs: readonly number[], toX: (x: number) => number, label: string): string[] {
  const lines = [
    `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${PLOT.bottom}" y2="${PLOT.bottom}" stroke="#333333"/>`,
    `<line x1="${PLOT.left}" x2="${PLOT.left}" y1="${PLOT.top}" y2="${PLOT.bottom}" stroke="#333333"/>`,
    text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 44, label, 'font-size="12" text-anchor="middle"'),
  ];
  for (const value of xs) {
    const x = round(toX(value));
    lines.push(`<line x1="${x}" x2="${x}" y1="${PLOT.bottom}" y2="${PLOT.bottom + 5}" stroke="#333333"/>`);
    lines.push(text(x, PLOT.bottom + 20, value.toLocaleString('en-US'), 'font-size="12" text-anchor="middle"'));
  }
  return lines;
}

function curve(
  { points }: Series,
  index: number,
  toX: (x: number) => number,
  toY: (value: number) => number,
): string[] {
  const [colour, dash] = lookOf(index);
  const path = points.map(({ x, y }) => `${round(toX(x))},${round(toY(y))}`).join(' ');
  const bars = points.map(({ x, y, min, max }) => {
    const at = round(toX(x));
    return (
      `<line x1="${at}" x2="${at}" y1="${round(toY(min))}" y2="${round(toY(max))}" stroke="${colour}" stroke-width="1"/>` +
      `<circle cx="${at}" cy="${round(toY(y))}" r="3.5" fill="${colour}"/>`
    );
  });
  return [`<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`, ...bars];
}

function legend({ name }: Series, index: number): string[] {
  const [colour, dash] = lookOf(index);
  const y = PLOT.top + 10 + index * 22;
  const x = PLOT.right + 16;
  return [
    `<line x1="${x}" x2="${x + 26}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="2"${dash}/>`,
    text(x + 32, y + 4, name, 'font-size="12"'),
  ];
}

function lookOf(index: number): [colour: string, dash: string] {
  const dash = DASHES[index % DASHES.length]!;
  return [COLOURS[index % COLOURS.length]!, dash === '' ? '' : ` stroke-dasharray="${dash}"`];
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${round(x)}" y="${round(y)}" ${FONT} fill="#222222" ${attributes}>${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

import assert from 'node:assert/strict';
import { niceStep, toLineChart, type LineChart, type Series } from '../../bench/report/line-chart.js';

const line = (name: string, points: [x: number, y: number][]): Series => ({
  name,
  points: points.map(([x, y]) => ({ x, y, min: y * 0.9, max: y * 1.1 })),
});

const CHART: LineChart = {
  title: 'Cost <by> "size" & more',
  xLabel: 'nodes',
  yLabel: 'ms a node',
  xScale: 'log',
  series: [
    line('service', [
      [10, 20],
      [100, 18],
      [1000, 19],
    ]),
    line('twin', [
      [10, 10],
      [100, 12],
      [1000, 11],
    ]),
  ],
};

/** The numbers of the polyline of each series. */
function curvesOf(svg: string): { x: number; y: number }[][] {
  return [...svg.matchAll(/<polyline points="([^"]+)"/g)].map(([, points]) =>
    points!.split(' ').map((point) => {
      const [x, y] = point.split(',').map(Number);
      return { x: x!, y: y! };
    }),
  );
}

describe('line charts', () => {
  it('names the chart, both axes and every line, with markup in names made harmless', () => {
    const svg = toLineChart(CHART);
    for (const words of ['Cost &lt;by&gt; &quot;size&quot; &amp; more', 'nodes', 'ms a node', 'service', 'twin']) {
      assert.ok(svg.includes(`>${words}</text>`), words);
    }
    assert.ok(!svg.includes('<by>'));
  });

  it('every tag that opens is closed', () => {
    const svg = toLineChart(CHART);
    for (const name of ['svg', 'title', 'text']) {
      const opened = svg.match(new RegExp(`<${name}[ >]`, 'g'))!.length;
      assert.equal(svg.match(new RegExp(`</${name}>`, 'g'))!.length, opened, name);
    }
    const empty = svg.match(/<(?:line|rect|circle|polyline)\b[^>]*>/g) ?? [];
    assert.ok(empty.length > 10 && empty.every((tag) => tag.endsWith('/>')));
  });

  it('puts equal factors at equal distances on a logarithmic axis', () => {
    const [service] = curvesOf(toLineChart(CHART));
    const [first, second, third] = service!;
    assert.ok(Math.abs(second!.x - first!.x - (third!.x - second!.x)) < 0.5);
  });

  it('puts larger values higher, in proportion from nought', () => {
    const [service, twin] = curvesOf(toLineChart(CHART));
    const bottom = 2 * twin![0]!.y - service![0]!.y;
    // 20 is twice 10, so the lower point lies halfway between nought and the higher one.
    const [axis] = [...toLineChart(CHART).matchAll(/y1="([\d.]+)" y2="\1" stroke="#333333"/g)];
    assert.ok(Math.abs(bottom - Number(axis![1])) < 0.5);
  });

  it('keeps every bar from lowest to highest within the axes', () => {
    const svg = toLineChart(CHART);
    const bars = [...svg.matchAll(/y1="([\d.-]+)" y2="([\d.-]+)" stroke="#[0-9a-f]+" stroke-width="1"/g)];
    assert.equal(bars.length, 6);
    for (const [, low, high] of bars) assert.ok(Number(high) >= 50 && Number(low) <= 350);
  });

  it('draws a line of one point', () => {
    const svg = toLineChart({ ...CHART, series: [line('one', [[5, 3]])] });
    assert.ok(!svg.includes('NaN') && !svg.includes('Infinity'));
  });

  it('steps by 1, 2 or 5 times a power of ten', () => {
    assert.deepEqual([0.13, 1, 1.2, 3, 7, 43].map(niceStep), [0.2, 1, 2, 5, 10, 50]);
  });
});

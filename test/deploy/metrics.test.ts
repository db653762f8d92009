import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import {
  alerts,
  dashboardQueries,
  DEPLOY,
  filledIn,
  readExposition,
  readQuery,
  type Exposed,
} from './metric-queries.js';
import { startObservedStack, type ObservedStack } from './observed-stack.js';

/** Labels that Prometheus adds when it scrapes. */
const SCRAPED = ['job', 'instance'];

describe('dashboard and alerts', function () {
  this.timeout(120_000);
  let observed: ObservedStack;
  let exposed: Exposed;

  before(async () => {
    observed = await startObservedStack();
    await observed.work();
    const urls = [`${observed.stack.apiUrl}/metrics`, `http://${observed.workerAddress}/metrics`];
    exposed = readExposition(...(await Promise.all(urls.map(async (url) => (await fetch(url)).text()))));
  });
  after(() => observed.stop());

  it('read only metrics, labels and values that the processes export', () => {
    const queries = [...dashboardQueries(), ...alerts()];
    assert.ok(queries.length > 60);
    const problems = queries.flatMap(({ name, expr }) => {
      const { metrics, labels, values } = readQuery(filledIn(expr, '1m'));
      assert.ok(metrics.length > 0, `${name} asks for no metric`);
      const own = metrics.filter((metric) => metric !== 'up');
      const missing = own.filter((metric) => !exposed.series.has(metric)).map((metric) => `${name}: ${metric}`);
      const known = new Set(own.flatMap((metric) => exposed.series.get(metric) ?? []).flatMap(Object.keys));
      const unknown = labels.filter((label) => !known.has(label) && !SCRAPED.includes(label));
      const never = values.filter(({ metric, label, value }) => {
        const sets = exposed.series.get(metric) ?? [];
        return (
          !SCRAPED.includes(label) &&
          !['outcome', 'status'].includes(label) &&
          !sets.some((set) => set[label] === value)
        );
      });
      return [
        ...missing,
        ...unknown.map((label) => `${name}: label ${label}`),
        ...never.map((each) => `${name}: ${JSON.stringify(each)}`),
      ];
    });
    assert.deepEqual(problems, []);
  });

  it('are parsed: an invalid query is an error, and a valid one yields its metrics and labels', () => {
    assert.throws(() => readQuery('sum by (kind (rate(nodes_total[1m]))'), /no PromQL/);
    const { metrics, labels } = readQuery('sum by (sort) (rate(knots_total{outcome="succeed"}[1m]))');
    assert.deepEqual([metrics, labels.toSorted()], [['knots_total'], ['outcome', 'sort']]);
  });

  it('have instructions in the runbook for every alert', () => {
    const manual = readFileSync(path.join(DEPLOY, '../docs/operate/runbook.md'), 'utf8');
    const names = alerts().map(({ name }) => name);
    assert.deepEqual(new Set(names).size, names.length);
    for (const { name, labels, annotations } of alerts()) {
      assert.ok(['page', 'ticket'].includes(labels['severity']!), name);
      assert.ok(annotations['summary'] && annotations['description'], name);
      assert.equal(annotations['runbook_url'], `docs/operate/runbook.md#${name.toLowerCase()}`);
      const section = manual.split(/^### /m).find((part) => part.startsWith(`${name}\n`));
      assert.ok(section?.includes('**Do**'), `docs/operate/runbook.md says nothing to do about ${name}`);
      const line = manual.split('\n').find((each) => each.startsWith(`- \`${labels['severity']}\``));
      assert.ok(line?.includes(`[${name}](#${name.toLowerCase()})`), `${name} is not listed by its severity`);
    }
    const sections = [...manual.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    assert.deepEqual(sections, names);
  });

  it('have a test case for each alert in which it fires, and one in which it does not', () => {
    const { tests } = parse(readFileSync(path.join(DEPLOY, 'prometheus/alerts.test.yml'), 'utf8')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
    };
    const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    const quiet = cases.filter(({ exp_alerts = [] }) => exp_alerts.length === 0).map(({ alertname }) => alertname);
    const fired = cases.filter(({ exp_alerts = [] }) => exp_alerts.length > 0).map(({ alertname }) => alertname);
    for (const { name } of alerts()) assert.ok(quiet.includes(name) && fired.includes(name), name);
  });
});

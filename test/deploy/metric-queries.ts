// Every PromQL expression that we ship, and the metrics that it reads, parsed by Prometheus' own grammar.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

export const DEPLOY = path.resolve(import.meta.dirname, '../../deploy');

export interface ShippedQuery {
  /** The panel's or alert's name. */
  name: string;
  expr: string;
}

export interface Alert extends ShippedQuery {
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

interface Dashboard {
  panels: { title: string; type: string; targets?: { expr: string }[] }[];
}

export function dashboardQueries(): ShippedQuery[] {
  const { panels } = JSON.parse(readFileSync(path.join(DEPLOY, 'grafana/dashboard.json'), 'utf8')) as Dashboard;
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ name: title, expr })));
}

interface RuleFile {
  groups: { rules: { alert: string; expr: string; labels: Alert['labels']; annotations: Alert['annotations'] }[] }[];
}

export function alerts(): Alert[] {
  const { groups } = parse(readFileSync(path.join(DEPLOY, 'prometheus/alerts.yml'), 'utf8')) as RuleFile;
  return groups.flatMap(({ rules }) => rules.map(({ alert, ...rule }) => ({ name: alert, ...rule })));
}

/** Fills in the variable of Grafana for the interval of rates. */
export function filledIn(expr: string, window: string): string {
  return expr.replaceAll('$__rate_interval', window);
}

export interface Asked {
  metrics: string[];
  /** The label names in matchers and in `by (...)`. */
  labels: string[];
  /** The matchers `label="value"`; for other operators only the label is listed. */
  values: { metric: string; label: string; value: string }[];
}

/** Throws if the text is no PromQL. */
export function readQuery(expr: string): Asked {
  const asked: Asked = { metrics: [], labels: [], values: [] };
  let metric = '';
  parser.parse(expr).iterate({
    enter(node) {
      const text = expr.slice(node.from, node.to);
      if (node.type.isError) throw new Error(`"${expr}" is no PromQL at character ${node.from}`);
      if (node.name === 'VectorSelector') metric = /^[\w:]+/.exec(text)?.[0] ?? '';
      if (node.name === 'VectorSelector' && metric !== '') asked.metrics.push(metric);
      if (node.name === 'GroupingLabels') asked.labels.push(...(text.match(/\w+/g) ?? []));
      if (node.name !== 'UnquotedLabelMatcher') return;
      const [, label = '', operator, value = ''] = /^(\w+)\s*(=~|!=|!~|=)\s*"(.*)"$/.exec(text) ?? [];
      asked.labels.push(label);
      if (operator === '=') asked.values.push({ metric, label, value });
    },
  });
  return asked;
}

export interface Exposed {
  /** Series name -> the label sets with which it occurs. */
  series: Map<string, Record<string, string>[]>;
}

/** Parses Prometheus' text format. */
export function readExposition(...texts: string[]): Exposed {
  const series: Exposed['series'] = new Map();
  for (const line of texts.join('\n').split('\n')) {
    const [, name, labels = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, value]) => [label, value]);
    series.set(name, [...(series.get(name) ?? []), Object.fromEntries(pairs) as Record<string, string>]);
  }
  return { series };
}

import { arch, cpus, loadavg, platform, totalmem } from 'node:os';
import type { Machine } from './results.js';

export function describeMachine(): Machine {
  const [first, ...others] = cpus();
  return {
    cores: others.length + 1,
    model: first?.model.trim() ?? 'unknown processor',
    memoryGib: Math.round(totalmem() / 2 ** 30),
    platform: `${platform()} ${arch()}`,
    node: process.versions.node,
    loadBefore: Number(loadavg()[0]!.toFixed(2)),
  };
}

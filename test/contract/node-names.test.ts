import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { activityIdOf, nodeOfRun, nodePlace } from '../../contract/node-names.js';
import { encodeId, indexOfPath, iterationPath, scopeOfPath } from '../../graph/iteration-path.js';

const at = (nodeId: string, path = '') => ({ path, nodeId });

describe('names of nodes', () => {
  it('are the ids themselves where these are plain, in whatever language', () => {
    for (const id of ['3f0e8a52-5b1c-4d7e-9a35-1c2d3e4f5a6b', 'ask', 'größe 1', '質問', 'a.b:c@d#e?f']) {
      assert.deepEqual([nodePlace(at(id)), activityIdOf(at(id))], [id, id]);
    }
    assert.equal(activityIdOf(at('x', iterationPath('', 'each', 3)), '0/tools'), 'each[3]/x~0/tools');
  });

  it('are different for different nodes, iterations and steps, whatever signs their ids hold', () => {
    const ids = [
      'a',
      'a/0',
      'a~0',
      'a%2F0',
      '%2F',
      '/',
      'a[0]',
      'a[0]/b',
      'a[0]/b[1]',
      'a/0/tools',
      'a~0/tools',
      '0',
      '~~',
    ];
    const loops = ['a', 'b', 'a[0]', 'a[0]/b', 'a/b', '%5B'];
    const outer = loops.flatMap((loop) => [0, 1].map((index) => iterationPath('', loop, index)));
    const inner = outer.flatMap((path) => loops.map((loop) => iterationPath(path, loop, 0)));
    const paths = ['', ...outer, ...inner];
    assert.equal(new Set(paths).size, paths.length);
    const nodes = paths.flatMap((path) => ids.map((id) => at(id, path)));
    const names = nodes.flatMap((node) => [undefined, '0', '0/tools', '1'].map((step) => activityIdOf(node, step)));
    assert.equal(new Set(names).size, names.length);
    assert.equal(new Set(nodes.map((node) => nodeOfRun({ runId: 'r', ...node }))).size, nodes.length);
  });

  it('of more than 200 bytes end in their hash, and differ where they differ behind the cut', () => {
    const long = [
      '質'.repeat(100),
      `${'質'.repeat(99)}問`,
      `${'x'.repeat(199)}/`,
      `${'x'.repeat(199)}~`,
      '🙂'.repeat(100),
    ];
    const names = long.map((id) => activityIdOf(at(id)));
    assert.equal(new Set(names).size, long.length);
    for (const name of names) assert.ok(Buffer.byteLength(name) <= 234 && !name.includes('\uFFFD'), name);
    assert.equal(activityIdOf(at('x'.repeat(200))), 'x'.repeat(200));
    assert.ok(activityIdOf(at(long[0]!), '7/tools').endsWith('~7/tools'));
  });

  it('end in the first half of the SHA-256', () => {
    const id = 'x'.repeat(201);
    const hash = createHash('sha256').update(id).digest('hex').slice(0, 32);
    assert.equal(activityIdOf(at(id)), `${'x'.repeat(200)}~~${hash}`);
  });

  it('of loops are found again in a path', () => {
    for (const [outer, inner] of [
      ['a', 'b'],
      ['a[0]', 'b/c'],
      ['a/b[1]', '%'],
    ] as const) {
      const path = iterationPath(iterationPath('', outer, 12), inner, 3);
      assert.deepEqual(
        [scopeOfPath(path, [outer]), scopeOfPath(path, [outer, inner])],
        [`${encodeId(outer)}[12]`, path],
      );
      assert.equal(scopeOfPath(path, [inner]), undefined);
      assert.equal(indexOfPath(path), 3);
    }
  });
});

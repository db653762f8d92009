import assert from 'node:assert/strict';
import type { components } from '../../../clients/typescript/src/index.js';
import { placesFor } from '../../../console/app/places.js';

type Role = components['schemas']['Role'];

const RANK: Record<Role, number> = { viewer: 0, editor: 1, admin: 2, owner: 3 };

describe('the pages that the dialog finds', () => {
  const found = (text: string, role: Role | undefined, isAdmin = false): string[] => {
    const may = (minimum: Role): boolean => role !== undefined && RANK[role] >= RANK[minimum];
    return placesFor(text, { isAdmin, may }).map(({ name }) => name);
  };

  it('include the settings of the service for its administrators alone', () => {
    const ofService = ['Settings: Pools', 'Settings: Users', 'Settings: Audit of the service'];
    for (const name of ofService) {
      assert.deepEqual(found(name, 'owner', true), [name]);
      assert.deepEqual(found(name, 'owner'), []);
    }
  });

  it('include a tab of the project for the roles that see it', () => {
    const seen = (role: Role | undefined): string[] =>
      ['Settings: Connections', 'Settings: Audit', 'Settings: Members'].flatMap((name) => found(name, role));
    assert.deepEqual(seen('owner'), ['Settings: Connections', 'Settings: Audit', 'Settings: Members']);
    assert.deepEqual(seen('admin'), seen('owner'));
    assert.deepEqual(seen('editor'), ['Settings: Connections', 'Settings: Members']);
    assert.deepEqual(seen('viewer'), ['Settings: Members']);
    assert.deepEqual(seen(undefined), ['Settings: Members']);
  });

  it('are without the settings until the person types', () => {
    const all = found('', 'owner', true);
    assert.ok(all.length > 0);
    assert.deepEqual(
      all.filter((name) => name.startsWith('Settings:')),
      [],
    );
  });
});

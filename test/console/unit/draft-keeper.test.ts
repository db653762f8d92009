import assert from 'node:assert/strict';
import { addNode } from '../../../console/drawing/change-drawing.js';
import { byType, nodesOf, type Drawing } from '../../../console/drawing/drawing.js';
import { EditorStore } from '../../../console/drawing/editor-store.js';
import { DraftKeeper } from '../../../console/pages/workflow/draft-keeper.js';
import { draftKey, writeDraft } from '../../../console/service/drafts.js';
import type { JsonObject } from '../../../graph/json.js';
import type { BeforeAnswer, DraftCalls, KeptDraft } from '../../../console/pages/workflow/kept-draft.js';
import { ServiceError } from '../../../clients/typescript/src/index.js';
import { describeNodes } from '../../../graph/nodes/describe-nodes.js';
import { createGate } from '../../../harness/timing/gate.js';
import { eventually } from '../../../harness/timing/eventually.js';

const kinds = byType(describeNodes() as Parameters<typeof byType>[0]);
const EMPTY = { nodes: [], edges: [] } as unknown as Drawing;
const withNode = (drawing: Drawing) => addNode(drawing, kinds, kinds.get('set-node')!, { x: 0, y: 0 }).drawing;
/** A drawing whose trigger has a secret field. The service answers its default value as `********`. */
const withSecret = (secret = '********') => {
  const inputs = [{ id: 'access', title: 'Access', type: 'text', is_secret: true, default_value: secret }];
  return { nodes: [{ id: 't', type: 'trigger-node', data: { id: 't', input_fields: inputs } }], edges: [] } as Drawing;
};
const countOf = (drawing: Drawing | undefined) => drawing && nodesOf(drawing).size;

function refused(status: number): ServiceError {
  return new ServiceError(new Response(null, { status }), { code: 'refused', detail: '' });
}

/** A fake of the service's drafts. It has one draft, whose tag changes with each write. */
function startService() {
  const service = {
    draft: undefined as KeptDraft | undefined,
    before: undefined as BeforeAnswer | undefined,
    failing: undefined as unknown,
    writes: 0,
  };
  const reach = (): void => {
    if (service.failing !== undefined) throw service.failing as Error;
  };
  const calls: DraftCalls = {
    read: async () => {
      reach();
      return service.draft;
    },
    write: async (drawing, version, tag) => {
      reach();
      if (tag !== service.draft?.tag) throw refused(412);
      service.writes += 1;
      const savedAt = new Date(Date.UTC(2026, 0, 1, 0, service.writes)).toISOString();
      service.draft = {
        drawing: structuredClone(drawing),
        version,
        savedAt,
        tag: `"${service.writes}"`,
        assistantRun: null,
      };
      return service.draft;
    },
    before: async () => service.before,
    remove: async (tag) => {
      reach();
      if (service.draft !== undefined && service.draft.tag !== tag) return false;
      service.draft = undefined;
      return true;
    },
  };
  return { service, calls };
}

function startEntries() {
  const kept = new Map<string, string>();
  return {
    get length() {
      return kept.size;
    },
    key: (at: number) => [...kept.keys()][at] ?? null,
    getItem: (key: string) => kept.get(key) ?? null,
    removeItem: (key: string) => void kept.delete(key),
    setItem: (key: string, text: string) => void kept.set(key, text),
  };
}

function openEditor(calls: DraftCalls, entries = startEntries(), saved = EMPTY) {
  const store = new EditorStore(saved, kinds, false);
  const saver = { getState: () => ({ workflow: { id: 7, version: 1 }, isSaving: false }) };
  let isSignedIn = true;
  const keeper = new DraftKeeper({ store, saver, owner: 1, calls, entries, isSignedIn: () => isSignedIn });
  const leave = keeper.start();
  const stop = (): void => {
    leave();
    // Otherwise an editor whose service cannot be reached would retry its write for ever.
    isSignedIn = false;
  };
  return { store, keeper, entries, stop };
}

describe('the keeper of unsaved work', () => {
  const stops: (() => void)[] = [];
  const open = (...given: Parameters<typeof openEditor>) => {
    const editor = openEditor(...given);
    stops.push(editor.stop);
    return editor;
  };
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });

  it('gives it to the service, offers it to another device, and ends it there with the save', async () => {
    const { service, calls } = startService();
    const here = open(calls);
    here.store.change(withNode(EMPTY));
    await eventually(() => countOf(service.draft?.drawing) === 1);
    const there = open(calls);
    await eventually(() => there.keeper.getState().offers.length === 1);
    const [offer] = there.keeper.getState().offers;
    assert.equal(offer!.isElsewhere, true);
    assert.equal(await there.keeper.continue(offer!), true);
    assert.equal(countOf(there.store.drawing), 1);
    assert.deepEqual(there.keeper.getState().offers, []);
    assert.equal(await there.keeper.beforeSave(), service.draft!.tag);
  });

  it('says of the own browser that it is from there, and removes it when the changes are undone', async () => {
    const { service, calls } = startService();
    const first = open(calls);
    first.store.change(withNode(EMPTY));
    await eventually(() => service.draft !== undefined && first.entries.getItem(first.entries.key(0)!)!.endsWith('\n'));
    const second = open(calls, first.entries);
    await eventually(() => second.keeper.getState().offers.length === 1);
    assert.equal(second.keeper.getState().offers[0]!.isElsewhere, false);
    first.store.undo();
    await eventually(() => service.draft === undefined);
    assert.equal(first.entries.length, 0);
  });

  it('is removed at the next look where the service could not be reached when the changes were undone', async () => {
    const { service, calls } = startService();
    const here = open(calls);
    here.store.change(withNode(EMPTY));
    await eventually(() => service.draft !== undefined);
    let tries = 0;
    const remove = calls.remove;
    calls.remove = async (tag) => {
      tries += 1;
      if (tries === 1) throw new TypeError('fetch failed');
      return remove(tag);
    };
    here.store.undo();
    await eventually(() => tries === 1);
    assert.equal(countOf(service.draft!.drawing), 1);
    await here.keeper.lookAround();
    assert.equal(service.draft, undefined);
    assert.deepEqual(here.keeper.getState().offers, []);
  });

  it('overwrites no draft of another place: both are there until the person chooses', async () => {
    const { service, calls } = startService();
    const [here, there] = [open(calls), open(calls)];
    here.store.change(withNode(EMPTY));
    await eventually(() => countOf(service.draft?.drawing) === 1);
    there.store.change(withNode(withNode(EMPTY)));
    await eventually(() => there.keeper.getState().offers.length === 1);
    assert.equal(countOf(service.draft!.drawing), 1);
    assert.match(there.entries.getItem(there.entries.key(0)!)!, /\n\{/);
    assert.equal(await there.keeper.discard(there.keeper.getState().offers[0]!), true);
    await eventually(() => countOf(service.draft?.drawing) === 2);
    // The first editor notices the other draft with its next change.
    here.store.change(withNode(here.store.drawing));
    await eventually(() => here.keeper.getState().offers.length === 1);
    assert.equal(countOf(service.draft!.drawing), 2);
  });

  it('lets no save delete a draft of another place that it could not read or copy', async () => {
    const { service, calls } = startService();
    const full = startEntries();
    const [here, there] = [open(calls), open(calls, full)];
    here.store.change(withNode(EMPTY));
    await eventually(() => countOf(service.draft?.drawing) === 1);
    there.store.change(withNode(withNode(EMPTY)));
    await eventually(() => there.keeper.getState().offers.length === 1);
    const draftTag = await there.keeper.beforeSave();
    assert.equal(draftTag, undefined);
    assert.ok(there.keeper.getState().offers.length > 0);
    service.failing = refused(503);
    await assert.rejects(there.keeper.beforeSave(), { status: 503 });
    service.failing = undefined;
    full.setItem = () => {
      throw new Error('the store is full');
    };
    await assert.rejects(there.keeper.beforeSave(), /^Error: The workflow was not saved\b.*storage is full or blocked/);
  });

  it('overwrites no draft that comes between its look and its first write', async () => {
    const { service, calls } = startService();
    const write: DraftCalls['write'] = async (...given) => {
      if (service.draft === undefined) await calls.write(withNode(withNode(EMPTY)), 1, undefined);
      return calls.write(...given);
    };
    const here = open({ ...calls, write });
    here.store.change(withNode(EMPTY));
    await eventually(() => here.keeper.getState().offers.length === 1);
    assert.equal(countOf(service.draft!.drawing), 2);
  });

  /** Writes a draft as the assistant does, over any draft that there is. */
  function assist({ service }: ReturnType<typeof startService>, runId: string, drawing: JsonObject): void {
    service.writes += 1;
    const savedAt = new Date(Date.UTC(2026, 0, 1, 0, service.writes)).toISOString();
    service.draft = { drawing, version: 1, savedAt, tag: `"${service.writes}"`, assistantRun: runId };
  }

  it('shows what the assistant has drawn as one step of Undo, with what the person has drawn meanwhile', async () => {
    const place = startService();
    const { service, calls } = place;
    const here = open(calls);
    here.store.change(withNode(EMPTY));
    assert.equal(await here.keeper.handOver(), true);
    assert.equal(countOf(service.draft?.drawing), 1);
    const handed = here.store.drawing;
    assist(place, 'run', withNode(service.draft!.drawing));
    await here.keeper.follow();
    assist(place, 'run', withNode(service.draft!.drawing));
    await here.keeper.follow();
    assert.equal(countOf(here.store.drawing), 3);
    assert.equal(here.store.getState().answer?.nodes.size, 2);
    here.store.undo();
    assert.equal(here.store.drawing, handed);
    assert.equal(here.store.getState().answer, undefined);
    here.store.redo();
    // The person draws while the assistant does: nothing of either is lost, and the service gets both.
    here.store.change(withNode(here.store.drawing));
    assist(place, 'next', withNode(service.draft!.drawing));
    await here.keeper.follow();
    assert.equal(countOf(here.store.drawing), 5);
    await eventually(() => countOf(service.draft?.drawing) === 5 && service.draft?.assistantRun === null);
    here.store.undoAnswer();
    assert.equal(countOf(here.store.drawing), 4, 'what the person has drawn stays');
    assert.equal(here.keeper.getState().offers.length, 0);
  });

  it('shows after a reload what was unsaved before the answer, and the answer as a step behind it', async () => {
    const place = startService();
    const { service, calls } = place;
    const unsaved = withNode(EMPTY);
    service.before = { runId: 'run', drawing: unsaved };
    assist(place, 'run', withNode(unsaved));
    const here = open(calls);
    await eventually(() => countOf(here.store.drawing) === 2);
    assert.equal(here.keeper.getState().offers.length, 0);
    here.store.undoAnswer();
    assert.deepEqual(here.store.drawing, unsaved);
    here.store.undo();
    here.store.undo();
    assert.deepEqual(here.store.drawing, unsaved);
    here.store.undo();
    assert.deepEqual(here.store.drawing, EMPTY);
  });

  it('loses no change that the person makes while the work from before the answer is read', async () => {
    const place = startService();
    const { service, calls } = place;
    service.before = { runId: 'run', drawing: undefined };
    assist(place, 'run', withNode(EMPTY));
    const [asked, answered] = [createGate(), createGate()];
    const before: DraftCalls['before'] = async () => {
      asked.open();
      await answered.opened;
      return service.before;
    };
    const here = open({ ...calls, before });
    await asked.opened;
    here.store.change(withNode(EMPTY));
    answered.open();
    await eventually(() => here.store.getState().answer !== undefined);
    assert.equal(countOf(here.store.drawing), 2);
    await eventually(() => countOf(service.draft?.drawing) === 2);
  });

  it('knows its own draft again although the answer to the write was lost, and a secret is masked there', async () => {
    const { service, calls } = startService();
    let isLost = false;
    const write: DraftCalls['write'] = async (drawing, version, tag) => {
      const draft = await calls.write(drawing, version, tag);
      draft.drawing = JSON.parse(JSON.stringify(drawing).replace('typed', '********')) as Drawing;
      if (isLost) return draft;
      isLost = true;
      // The client has repeated the request.
      throw refused(412);
    };
    const here = open({ ...calls, write }, startEntries(), withSecret());
    here.store.change(withNode(withSecret('typed')));
    await eventually(() => service.draft !== undefined);
    here.store.change(withNode(here.store.drawing));
    await eventually(() => countOf(service.draft?.drawing) === 3);
    assert.deepEqual(here.keeper.getState().offers, []);
    assert.equal(here.store.isFromDraft, false);
  });

  it('offers a draft that looks like the saved drawing but may have another secret, until it is saved', async () => {
    const { service, calls } = startService();
    await calls.write(withSecret(), 1, undefined);
    const here = open(calls, startEntries(), withSecret());
    await eventually(() => here.keeper.getState().offers.length === 1);
    assert.equal(here.store.getState().isDirty, false);
    for (const round of ['first', 'after Undo']) {
      assert.equal(await here.keeper.continue(here.keeper.getState().offers[0]!), true);
      assert.deepEqual(here.keeper.getState().offers, []);
      assert.equal(here.store.getState().isDirty, true, round);
      if (round !== 'first') break;
      here.store.undo();
      await eventually(() => here.keeper.getState().offers.length === 1);
      assert.equal(here.store.getState().isDirty, false);
    }
    assert.equal(await here.keeper.beforeSave(), service.draft!.tag);
    service.draft = undefined;
    here.keeper.saved();
    here.store.markSaved(here.store.drawing, withSecret());
    assert.equal(here.store.getState().isDirty, false);
    assert.deepEqual(here.keeper.getState().offers, []);
  });

  it('removes a draft that equals the saved drawing and hides no secret', async () => {
    const { service, calls } = startService();
    await calls.write(withNode(EMPTY), 1, undefined);
    const here = open(calls, startEntries(), service.draft!.drawing);
    await eventually(() => service.draft === undefined);
    assert.deepEqual(here.keeper.getState().offers, []);
  });

  it('gives nothing to the assistant while a person has to decide about the draft of another editor', async () => {
    const { calls } = startService();
    await calls.write(withNode(EMPTY), 1, undefined);
    const here = open(calls);
    assert.equal(await here.keeper.handOver(), false);
  });

  it('discards nothing that has changed since it was offered', async () => {
    const { service, calls } = startService();
    const here = open(calls);
    here.store.change(withNode(EMPTY));
    await eventually(() => service.draft !== undefined);
    const there = open(calls);
    await eventually(() => there.keeper.getState().offers.length === 1);
    const [offer] = there.keeper.getState().offers;
    await calls.write(withNode(withNode(EMPTY)), 1, service.draft!.tag);
    assert.equal(await there.keeper.discard(offer!), false);
    assert.equal(countOf(service.draft!.drawing), 2);
    assert.notEqual(there.keeper.getState().offers[0]!.savedAt, offer!.savedAt);
  });

  it('leaves it in the browser while the service cannot be reached or refuses it, and says why', async () => {
    const { service, calls } = startService();
    const here = open(calls);
    service.failing = refused(413);
    here.store.change(withNode(EMPTY));
    await eventually(() => here.keeper.getState().problem === service.failing);
    assert.equal(here.keeper.getState().isInBrowser, true);
    assert.match(here.entries.getItem(here.entries.key(0)!)!, /\n\{/);
    service.failing = undefined;
    await here.keeper.lookAround();
    await eventually(() => service.draft !== undefined && here.keeper.getState().problem === undefined);
  });

  it('gives to the service what was drawn just before the tab was hidden', async () => {
    const { service, calls } = startService();
    const here = open(calls);
    here.store.change(withNode(EMPTY));
    here.keeper.flush();
    assert.match(here.entries.getItem(here.entries.key(0)!)!, /\n\{/);
    await eventually(() => countOf(service.draft?.drawing) === 1);
  });

  /** Draws while `act` waits for a read of the draft, whose answer is late: it says what the service had before. */
  async function drawDuringRead(
    { service, calls }: ReturnType<typeof startService>,
    act: (here: ReturnType<typeof open>) => Promise<unknown>,
  ): Promise<void> {
    const answered = createGate();
    let reads = 0;
    let held = Infinity;
    const read: DraftCalls['read'] = async () => {
      reads += 1;
      const isHeld = reads === held;
      const draft = await calls.read();
      if (isHeld) await answered.opened;
      return draft;
    };
    const here = open({ ...calls, read });
    await here.keeper.follow();
    held = reads + 1;
    const acting = act(here);
    await eventually(() => reads === held);
    service.draft = undefined;
    here.store.change(withNode(EMPTY));
    await eventually(() => here.entries.length === 1);
    here.store.change(withNode(here.store.drawing));
    answered.open();
    await acting;
    await eventually(() => countOf(service.draft?.drawing) === 2);
    assert.deepEqual(here.keeper.getState().offers, []);
  }

  it('is known as its own although a look around is answered late', async () => {
    await drawDuringRead(startService(), ({ keeper }) => keeper.lookAround());
  });

  it('is known as its own although the draft that was to be discarded is read late', async () => {
    const place = startService();
    await place.calls.write(withNode(withNode(EMPTY)), 1, undefined);
    await drawDuringRead(place, async ({ keeper }) => {
      const [offer] = keeper.getState().offers;
      await place.calls.write(withNode(withNode(withNode(EMPTY))), 1, place.service.draft!.tag);
      assert.equal(await keeper.discard(offer!), false);
    });
  });

  it('moves the draft of another place to the browser before a save ends it', async () => {
    const { service, calls } = startService();
    await calls.write(withNode(EMPTY), 1, undefined);
    const here = open(calls);
    here.store.change(withNode(withNode(EMPTY)));
    assert.equal(await here.keeper.beforeSave(), undefined);
    service.draft = undefined;
    here.keeper.saved();
    const [offer] = here.keeper.getState().offers;
    assert.ok(offer?.key !== undefined);
    await here.keeper.continue(offer);
    assert.equal(countOf(here.store.drawing), 1);
  });

  it('offers again what a person has continued and undone, and goes on with it after Redo', async () => {
    const { service, calls } = startService();
    await calls.write(withNode(EMPTY), 1, undefined);
    const here = open(calls);
    await eventually(() => here.keeper.getState().offers.length === 1);
    for (const round of ['Undo', 'Undo after Redo']) {
      if (round === 'Undo') await here.keeper.continue(here.keeper.getState().offers[0]!);
      else here.store.redo();
      await eventually(() => here.keeper.getState().offers.length === 0);
      assert.equal(here.store.isFromDraft, true);
      here.store.undo();
      await eventually(() => here.keeper.getState().offers.length === 1);
      assert.equal(countOf(service.draft?.drawing), 1, round);
      assert.equal(here.store.isFromDraft, false);
    }
    assert.equal(service.writes, 1);
  });

  it('does not overwrite a draft that was continued with the own changes to which Undo returns', async () => {
    const { service, calls } = startService();
    await calls.write(withNode(withNode(EMPTY)), 1, undefined);
    const here = open(calls);
    here.store.change(withNode(EMPTY));
    await eventually(() => here.keeper.getState().offers.length === 1);
    await here.keeper.continue(here.keeper.getState().offers[0]!);
    here.store.undo();
    await eventually(() => here.keeper.getState().offers.length === 1);
    assert.equal(await here.keeper.handOver(), false);
    assert.equal(countOf(service.draft?.drawing), 2);
  });

  it('keeps what a person has continued and undone while the service cannot be reached', async () => {
    const { service, calls } = startService();
    service.failing = refused(503);
    const entries = startEntries();
    writeDraft(entries, draftKey(1, 7, 'closed'), { version: 1 }, withNode(EMPTY));
    const here = open(calls, entries);
    await here.keeper.continue(here.keeper.getState().offers[0]!);
    here.store.undo();
    await eventually(() => here.keeper.getState().offers.length === 1);
    here.store.change(withNode(withNode(EMPTY)));
    here.keeper.flush();
    const next = open(calls, entries);
    assert.equal(next.keeper.getState().offers.length, 2);
  });

  it('leaves nothing behind when a person continues and saves before the service has answered', async () => {
    const { service, calls } = startService();
    const drawing = withNode(EMPTY);
    await calls.write(drawing, 1, undefined);
    // Like a tab that is closed before its write is answered: its entry does not name the draft of the service.
    const entries = startEntries();
    writeDraft(entries, draftKey(1, 7, 'closed'), { version: 1 }, drawing);
    const asked = createGate();
    const second = open({ ...calls, read: () => asked.opened.then(calls.read) }, entries);
    const continued = second.keeper.continue(second.keeper.getState().offers[0]!);
    asked.open();
    assert.equal(await continued, true);
    assert.equal(await second.keeper.beforeSave(), service.draft!.tag);
    service.draft = undefined;
    second.keeper.saved();
    second.store.markSaved(second.store.drawing, second.store.drawing);
    assert.deepEqual(second.keeper.getState().offers, []);
    assert.equal(entries.length, 0);
  });
});

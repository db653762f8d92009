import type { EditorStore } from '../../drawing/editor-store.js';
import { announce } from '../../ui/notices.js';
import type { Saver } from './saver.js';

/** Saves because a person asked for it, and says what came of it. */
export async function saveAndTell(store: EditorStore, saver: Saver): Promise<void> {
  if (!store.getState().isDirty) announce('There is nothing to save');
  else if (await saver.save()) announce('Saved');
}

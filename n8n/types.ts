// Types of n8n that several files name.

export const LOOP_TYPE = 'n8n-nodes-base.splitInBatches';
export const SPLIT_OUT_TYPE = 'n8n-nodes-base.splitOut';
export const STICKY_NOTE_TYPE = 'n8n-nodes-base.stickyNote';

/** Types whose nodes look at all items at once (a code node can, by its mode). */
export const itemsTypes: ReadonlySet<string> = new Set([
  LOOP_TYPE,
  SPLIT_OUT_TYPE,
  'n8n-nodes-base.merge',
  'n8n-nodes-base.aggregate',
  'n8n-nodes-base.summarize',
  'n8n-nodes-base.limit',
  'n8n-nodes-base.sort',
  'n8n-nodes-base.removeDuplicates',
  'n8n-nodes-base.compareDatasets',
  'n8n-nodes-base.itemLists',
  'n8n-nodes-base.function',
  'n8n-nodes-base.executeWorkflow',
  'n8n-nodes-base.respondToWebhook',
]);

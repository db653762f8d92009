import assert from 'node:assert/strict';
import { ledgerCharge } from '../../../../activities/kinds/llm/ledger-charge.js';
import type { NodeTask } from '../../../../activities/node/node-step.js';
import type { ModelProviders } from '../../../../config/model-providers.js';
import { playedDatabase } from '../../../support/played-database.js';

const providers = { models: new Map([['listed', { priceVersion: 'v1' }]]) } as unknown as ModelProviders;

describe('the cost of a node by the ledger', () => {
  /** The version of the price list for a node with this model name, whose calls went to the model `called`. */
  async function versionOf(drawn: string, called: string | null): Promise<string> {
    const db = playedDatabase(() => ({ rows: [{ usd: '0.5', isEstimated: false, model: called }] }));
    const task = { node: { data: { settings: { model_name: drawn } } } } as unknown as NodeTask;
    return (await ledgerCharge({ db, providers }, task)).priceVersion;
  }

  it('names the price list of the model that was called, which the drawing may name by a variable', async () => {
    assert.equal(await versionOf('{{ input.model }}', 'listed'), 'v1');
    assert.equal(await versionOf('listed', 'listed'), 'v1');
    assert.equal(await versionOf('listed', null), 'v1', 'no call was made');
    assert.equal(await versionOf('{{ input.model }}', null), '');
  });
});

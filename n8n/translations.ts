// The types of n8n that have an equivalent here, each with its translation.
import { translateAgent, translateChain } from './agents.js';
import { translateCall } from './calls.js';
import { translateCode, translateFunction, translateFunctionItem } from './code.js';
import { translateFilter, translateIf, translateSwitch } from './decisions.js';
import { translateHttpRequest } from './http-request.js';
import { translateAggregate, translateItemLists, translateLimit, translateLoop, translateSplitOut } from './lists.js';
import { translateMerge } from './merge.js';
import { translateFirstOpenAi, translateOpenAi } from './models.js';
import type { NodeTranslation, TranslatedNode } from './node-translation.js';
import { LOOP_TYPE, SPLIT_OUT_TYPE } from './types.js';
import { translateNoOp, translateResponse, translateSet } from './values.js';
import { translateStop, translateWait } from './waits.js';

type Translate = (at: NodeTranslation) => TranslatedNode;

export const translations: Readonly<Record<string, Translate>> = {
  'n8n-nodes-base.httpRequest': translateHttpRequest,
  'n8n-nodes-base.if': translateIf,
  'n8n-nodes-base.filter': translateFilter,
  'n8n-nodes-base.switch': translateSwitch,
  'n8n-nodes-base.set': translateSet,
  'n8n-nodes-base.noOp': translateNoOp,
  'n8n-nodes-base.merge': translateMerge,
  'n8n-nodes-base.code': translateCode,
  'n8n-nodes-base.function': translateFunction,
  'n8n-nodes-base.functionItem': translateFunctionItem,
  'n8n-nodes-base.wait': translateWait,
  'n8n-nodes-base.stopAndError': translateStop,
  'n8n-nodes-base.respondToWebhook': translateResponse,
  'n8n-nodes-base.executeWorkflow': translateCall,
  [LOOP_TYPE]: translateLoop,
  [SPLIT_OUT_TYPE]: translateSplitOut,
  'n8n-nodes-base.itemLists': translateItemLists,
  'n8n-nodes-base.aggregate': translateAggregate,
  'n8n-nodes-base.limit': translateLimit,
  'n8n-nodes-base.openAi': translateFirstOpenAi,
  '@n8n/n8n-nodes-langchain.openAi': translateOpenAi,
  '@n8n/n8n-nodes-langchain.chainLlm': translateChain,
  '@n8n/n8n-nodes-langchain.agent': translateAgent,
};

export function translationOf(type: string): Translate | undefined {
  return Object.hasOwn(translations, type) ? translations[type] : undefined;
}

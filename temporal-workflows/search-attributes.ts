import { defineSearchAttributeKey } from '@temporalio/common';

export const runStateKey = defineSearchAttributeKey('RunState', 'KEYWORD');

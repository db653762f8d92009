import type { Attack } from '../harness/attack.js';
import { answerAttacks } from './answers.js';
import { bodyAttacks } from './bodies.js';
import { connectionAttacks } from './connections.js';
import { drawingAttacks } from './drawings.js';
import { floodAttacks } from './floods.js';
import { outsideAttacks } from './outside.js';

/** Every attack, in the order in which they are played. */
export const attacks: Attack[] = [
  ...bodyAttacks,
  ...answerAttacks,
  ...outsideAttacks,
  ...drawingAttacks,
  ...connectionAttacks,
  ...floodAttacks,
];

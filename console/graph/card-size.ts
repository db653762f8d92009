// Cards have a fixed size, so that a card that is out of sight need not be drawn to know where its links end.
import type { Exit } from './exits.js';

export const CARD_WIDTH = 204;
export const HEAD_HEIGHT = 64;
export const EXIT_HEIGHT = 24;

export function cardHeight(exits: readonly Exit[]): number {
  return hasRows(exits) ? HEAD_HEIGHT + exits.length * EXIT_HEIGHT + 8 : HEAD_HEIGHT;
}

/** Named ways out stand in rows below the card's head. */
export function hasRows(exits: readonly Exit[]): boolean {
  return exits.some(({ handle }) => handle !== null);
}

/** How far below the card's upper edge the way out is. */
export function exitTop(exits: readonly Exit[], at: number): number {
  return hasRows(exits) ? HEAD_HEIGHT + at * EXIT_HEIGHT + EXIT_HEIGHT / 2 : HEAD_HEIGHT / 2;
}

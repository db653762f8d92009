import assert from 'node:assert/strict';
import { moveIntoView, openingView } from '../../../console/drawing/opening.js';

const SIZE = { width: 1000, height: 600 };
const card = (id: string, x: number, y = 0) => ({ id, position: { x, y }, width: 220, height: 64 });

describe('the view of a canvas', () => {
  it('opens with the whole drawing where it is legible then, never magnified', () => {
    const { zoom } = openingView([card('a', 0), card('b', 280)], 'a', SIZE);
    assert.equal(zoom, 1);
    const six = Array.from({ length: 6 }, (_, at) => card(String(at), at * 280));
    const view = openingView(six, '0', { width: 1200, height: 600 });
    assert.ok(view.zoom >= 0.6 && view.zoom < 1, String(view.zoom));
    assert.ok(view.x >= 0 && view.x + (5 * 280 + 220) * view.zoom <= 1200, JSON.stringify(view));
  });

  it('leaves the width of a panel free where the drawing is legible without it', () => {
    const three = Array.from({ length: 3 }, (_, at) => card(String(at), at * 280));
    const view = openingView(three, '0', SIZE, 360);
    assert.ok(view.zoom >= 0.6 && view.x + (2 * 280 + 220) * view.zoom <= 1000 - 360, JSON.stringify(view));
    const six = Array.from({ length: 6 }, (_, at) => card(String(at), at * 280));
    const size = { width: 1200, height: 600 };
    assert.deepEqual(openingView(six, '0', size, 360), openingView(six, '0', size));
  });

  it('moves a box into view as little as possible', () => {
    const view = { x: 0, y: 0, zoom: 0.5 };
    assert.deepEqual(moveIntoView(view, { x: 400, y: 400, width: 220, height: 64 }, SIZE), view);
    const right = moveIntoView(view, { x: 2000, y: 400, width: 220, height: 64 }, SIZE);
    assert.equal(right.y, 0);
    assert.equal((2000 + 220) * 0.5 + right.x, 1000 - 48);
    assert.equal(moveIntoView(view, { x: -500, y: 400, width: 220, height: 64 }, SIZE).x, 250 + 48);
  });

  it('shows the beginning of a box that does not fit', () => {
    const { x } = moveIntoView({ x: 0, y: 0, zoom: 1 }, { x: 100, y: 100, width: 2000, height: 10 }, SIZE);
    assert.equal(100 + x, 48);
  });
});

import { expect, test } from 'vitest';
import { crashPoint, crashPoints } from '../src/crash-point.ts';
import { eventTypes } from '../src/event.ts';

test('an event is named by a noun and what happened to it [W3-04]', () => {
  for (const type of eventTypes)
    expect(type).toMatch(
      /^[a-z]+\.(?:[a-z]+_)?(?:[a-z]+(?:ed|ing)|lost|made|rewound|told|taken|withdrawn|withheld|forbidden|sent|read|left|stuck|unstuck|silent|invalid)$/,
    );
});

test('crash points have unique names, and passing an inactive one does nothing', () => {
  expect(new Set(crashPoints).size).toBe(crashPoints.length);
  for (const point of crashPoints) crashPoint(point);
});

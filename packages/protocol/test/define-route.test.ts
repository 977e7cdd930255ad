import { OpenAPIHono } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import { forPeople } from '../src/access.ts';
import { defineRoute } from '../src/define-route.ts';
import { accessByRoute, routes } from '../src/routes.ts';

const responses = { 200: { description: 'It worked.' } };

test('a route does not compile without access', () => {
  // @ts-expect-error: access is required.
  defineRoute({ method: 'get', path: '/x', responses });
});

test('the OpenAPI document does not show access', () => {
  const app = new OpenAPIHono();
  const route = defineRoute({ access: forPeople('see it', ''), method: 'get', path: '/x', responses });
  app.openapi(route, () => new Response(''));
  const { paths } = app.getOpenAPI31Document({ openapi: '3.1.0', info: { title: '', version: '' } });
  expect(paths).toEqual({ '/x': { get: { responses } } });
  expect(route.access.agents).toBe('none');
});

test('every route and the list of routes have access', () => {
  const access = new Map(accessByRoute());
  expect([...access.keys()].toSorted()).toEqual([...Object.keys(routes), 'openapi'].toSorted());
  for (const [name, { does, row }] of access) expect([name, does !== '' && row !== '']).toEqual([name, true]);
});

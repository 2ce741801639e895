// The reference that the build makes (`node describe.js`), as an installation serves it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isObject } from '../../description/json.ts'
import { renderReference } from '../../render-reference.ts'
import { startWithoutServers } from '../../without-servers.ts'
import { BUILT_BASE_URL, builtReference } from './built-reference.ts'
import { descriptionRoutes, referenceFrom, referencePaths } from './description-routes.ts'

const BASE_URL = 'https://billing.example.com/millrace'
let folder: string
let file: string
/** What the api makes itself. */
let described: unknown
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-reference-'))
  file = join(folder, 'reference.json')
  const { app, close } = await startWithoutServers(BUILT_BASE_URL)
  writeFileSync(file, await renderReference(app))
  described = JSON.parse(JSON.stringify(app.swagger()))
  await close()
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('is served without describing anything, with the address of the installation', async () => {
  const describe = (): never => {
    throw new Error('the routes are described')
  }
  const reference = referenceFrom({ built: () => builtReference(BASE_URL, file), describe })
  const app = Fastify()
  descriptionRoutes(app, reference)
  const paths = referencePaths(reference.description())
  expect(paths).toContain('/v1/docs/shapes/Customer')
  const answers = await Promise.all(paths.map(path => app.inject(path)))
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(paths.map(() => 200))
  for (const { body } of answers) expect(body).not.toContain(BUILT_BASE_URL)
  const [openapi, index] = answers
  expect(openapi?.headers['content-type']).toMatch(/^application\/json/)
  expect(index?.headers).toMatchObject({
    'content-type': expect.stringMatching(/^text\/html/),
    'content-security-policy': expect.stringContaining("script-src 'self'"),
  })
  const { 'x-permissions': permissions, ...document } = openapi?.json() ?? {}
  expect(permissions).toContain('INVOICE.VIEW')
  const own = isObject(described) ? described : {}
  expect(document).toEqual({ ...own, servers: [{ url: BASE_URL, description: 'This installation.' }] })
  expect(reference.description()).toEqual({ ...document, 'x-permissions': permissions })
  await app.close()
})

test('is made from the routes where there is no build', async () => {
  expect(builtReference(BASE_URL, join(folder, 'absent.json'))).toBeNull()
  const reference = referenceFrom({
    built: () => null,
    describe: () => ({ openapi: '3.1.0', paths: {}, servers: [{ url: BASE_URL }] }),
  })
  expect(Object.keys(reference.answers()).toSorted()).toEqual(referencePaths(reference.description()).toSorted())
  expect(reference.description()['servers']).toEqual([{ url: BASE_URL }])
})

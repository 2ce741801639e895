// A start of the api leaves for later what it does not need to answer: on a busy machine it is ready in seconds because of that
// (docs/benchmarks/services.md, "Where a start goes").
import Type from 'typebox'
import { expect, test } from 'vitest'
import { serializerCompiler } from './http/body/serialization.ts'
import { validatorCompiler } from './http/body/validation.ts'
import { startWithoutServers } from './without-servers.ts'

/** The code of the router: one function for each piece of a path. */
const ROUTER = /return path\.charCodeAt|_createParamsObject|let candidates/

/** What was compiled from text while `work` ran, but the router. */
async function compiledBy(work: () => Promise<unknown> | unknown): Promise<string[]> {
  const codes: string[] = []
  const real = globalThis.Function
  const note = (parts: unknown[]): void => {
    const code = parts.map(String).join('\n')
    if (!ROUTER.test(code)) codes.push(code.slice(0, 200))
  }
  globalThis.Function = new Proxy(real, {
    construct: (target, parts, newTarget) => {
      note(parts)
      return Reflect.construct(target, parts, newTarget)
    },
    apply: (target, self, parts) => {
      note(parts)
      return Reflect.apply(target, self, parts)
    },
  })
  try {
    await work()
    return codes
  } finally {
    globalThis.Function = real
  }
}

test('a start compiles no serializer and no validator', async () => {
  let close = async (): Promise<void> => undefined
  const compiled = await compiledBy(async () => {
    close = (await startWithoutServers('http://127.0.0.1:8080')).close
  })
  await close()
  expect(compiled).toEqual([])
})

test.each([
  ['serializer', serializerCompiler, { name: 'x' }],
  ['validator', validatorCompiler, { name: 'x' }],
] as const)('the first use of a %s compiles it', async (_what, compiler, value) => {
  const schema = Type.Object({ name: Type.String() })
  const compile = compiler as unknown as (route: { schema: unknown }) => (value: unknown) => unknown
  let use: (value: unknown) => unknown = () => undefined
  expect(
    await compiledBy(() => {
      use = compile({ schema })
    }),
  ).toEqual([])
  expect(await compiledBy(() => use(value))).not.toEqual([])
})

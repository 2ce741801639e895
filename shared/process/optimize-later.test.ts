// Whether V8 does optimize later is seen in processes of their own: the flag stays in force for as long as a process lives.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { stop, transform } from 'esbuild'
import { expect, test } from 'vitest'

const source = readFileSync(new URL('./optimize-later.ts', import.meta.url), 'utf8')
/** As Node runs it: a loader of TypeScript takes each process six times as long as the rest. */
const { code } = await transform(source, { loader: 'ts' })
await stop()
const compiled = `data:text/javascript,${encodeURIComponent(code)}`

// Made from text, since the call that asks V8 is no JavaScript. Bit 4 of the answer: there is optimized code of the function.
const program = (before: string): string => `
import { optimizeLater } from ${JSON.stringify(compiled)}
${before}
const work = new Function('n', 'let sum = 0; for (let i = 0; i < n; i += 1) sum += i & 3; return sum')
const statusOf = new Function('work', 'return %GetOptimizationStatus(work)')
const isOptimizedAfter = calls => {
  for (let call = 0; call < calls; call += 1) work(100)
  return (statusOf(work) & 16) !== 0
}
console.log(JSON.stringify({ soon: isOptimizedAfter(110), later: isOptimizedAfter(2_000) }))`

/** Whether a function is optimized soon, and after it has run for longer, in a process that begins with `before`. */
async function optimized(before: string): Promise<{ soon: boolean; later: boolean }> {
  // On one thread, V8 does not go on while it optimizes.
  const flags = ['--no-warnings', '--allow-natives-syntax', '--single-threaded', '--input-type=module']
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...flags, '--eval', program(before)], {
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

const asUsual = optimized('')
// The tests wait for it.
asUsual.catch(() => undefined)
const hasFlag = Number.parseInt(process.versions.node, 10) < 22

test('on Node 20, what has run for a short time is not optimized yet, and what runs for longer is', async () => {
  const [usual, ours] = await Promise.all([asUsual, optimized('optimizeLater()')])
  expect(usual.later).toBe(true)
  // A newer Node that runs this test has no such flag: there the call must change nothing.
  expect([usual, ours]).toEqual(
    hasFlag
      ? [
          { ...usual, soon: true },
          { ...usual, soon: false },
        ]
      : [usual, usual],
  )
})

test.each(['22.0.0', '24.11.1', '100.0.0'])('on Node %s it changes nothing', async version => {
  const [usual, ours] = await Promise.all([asUsual, optimized(`optimizeLater('${version}')`)])
  expect(ours).toEqual(usual)
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PROJECT_ROOT } from './services/project.ts'

type Options = { readonly onWait?: () => void; readonly staleMs?: number }
type OneAtATime = <T>(lock: string, act: () => Promise<T>, options?: Options) => Promise<T>
const PROGRAM = pathToFileURL(join(PROJECT_ROOT, 'infra', 'one-at-a-time.mjs')).href
const { oneAtATime }: { readonly oneAtATime: OneAtATime } = await import(/* @vite-ignore */ PROGRAM)

let folder: string
let lock: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-lock-'))
  lock = join(folder, 'tools', 'lock')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('processes that start together do it one after the other, and leave nothing behind', async () => {
  const log = join(folder, 'log')
  const program = `
    import { appendFileSync } from 'node:fs'
    import { setTimeout as sleep } from 'node:timers/promises'
    import { oneAtATime } from ${JSON.stringify(PROGRAM)}
    const write = word => appendFileSync(${JSON.stringify(log)}, word + process.pid + '\\n')
    await oneAtATime(${JSON.stringify(lock)}, async () => { write('start '); await sleep(20); write('end ') })`
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' }),
  )
  const codes = await Promise.all(children.map(async child => (await once(child, 'exit'))[0]))
  expect(codes).toEqual([0, 0, 0, 0])
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  expect(lines).toHaveLength(8)
  for (let place = 0; place < lines.length; place += 2)
    expect(lines[place + 1]).toBe(lines[place]?.replace('start', 'end'))
  expect(readdirSync(join(folder, 'tools'))).toEqual([])
})

test('a process that has to wait reports it once', async () => {
  const waits: string[] = []
  let free = (): void => undefined
  const first = oneAtATime(lock, () => new Promise<void>(resolve => (free = resolve)))
  const second = oneAtATime(lock, async () => waits.push('ran'), {
    onWait: () => {
      waits.push('waits')
      free()
    },
  })
  await Promise.all([first, second])
  expect(waits).toEqual(['waits', 'ran'])
})

test('the lock of a process that was killed is taken after a while, that of a failure at once', async () => {
  await expect(oneAtATime(lock, () => Promise.reject(new Error('it failed')))).rejects.toThrow('it failed')
  expect(existsSync(lock)).toBe(false)
  writeFileSync(lock, 'of one that was killed')
  const before = new Date(Date.now() - 60_000)
  utimesSync(lock, before, before)
  expect(await oneAtATime(lock, async () => readFileSync(lock, 'utf8'))).not.toBe('of one that was killed')
  expect(readdirSync(join(folder, 'tools'))).toEqual([])
})

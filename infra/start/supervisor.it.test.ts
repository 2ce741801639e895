// The supervisor over real child processes.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { identify, isRunning, readPidFile, writePidFile } from '../../shared/process/pid-file.ts'
import { freePort, startChild, waitUntilReady } from '../services/child.ts'
import { lockDataDir } from './lock.ts'
import { createSupervisor, type RestartPolicy, type Unit } from './supervisor.ts'

const scratch = mkdtempSync(join(tmpdir(), 'millrace-supervisor-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const QUICK: RestartPolicy = { firstDelayMs: 20, delayMsMax: 50, deathsMax: 3, windowMs: 60_000 }
const journal = join(scratch, 'journal')
const written = () => (existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n') : [])

/** A child that notes its start and its orderly end, and listens so that its port is taken. */
const script = (name: string) => `
  const { appendFileSync } = require('node:fs')
  const note = text => appendFileSync(${JSON.stringify(journal)}, text + '\\n')
  process.on('SIGTERM', () => { note('end ${name}'); process.exit(0) })
  require('node:http').createServer((_q, r) => r.end('ok')).listen(Number(process.env.PORT), '127.0.0.1', () => note('begin ${name}'))
`

/** Ready and ended whenever a machine that runs other tests too comes to it; the one that ignores the signal says how long it may. */
async function unit(name: string, source = script(name), stopTimeoutMs = 60_000): Promise<Unit & { pidFile: string }> {
  const port = await freePort()
  const pidFile = join(scratch, `${name}.json`)
  return {
    name,
    pidFile,
    start: async signal => {
      const child = await startChild({
        name,
        command: process.execPath,
        args: ['-e', source],
        env: { ...process.env, PORT: String(port) },
        port,
        pidFile,
        logFile: join(scratch, `${name}.log`),
        stopSignal: 'SIGTERM',
        stopTimeoutMs,
      })
      try {
        await waitUntilReady(child, { timeoutMs: 60_000, signal }, async () =>
          (await fetch(`http://127.0.0.1:${port}`).catch(() => null)) ? null : 'no answer',
        )
      } catch (error) {
        await child.stop()
        throw error
      }
      return child
    },
  }
}

const pidOf = (file: string) => readPidFile(file)?.pid ?? 0

describe('the supervisor', () => {
  test('stops what was started last first, and what is in front of the others before them', async () => {
    rmSync(journal, { force: true })
    const supervisor = createSupervisor(() => {}, QUICK)
    const front = { ...(await unit('front')), isFront: true }
    const units = [await unit('one'), front, await unit('two')]
    await supervisor.start(units.slice(0, 1))
    await supervisor.start(units.slice(1))
    const identities = units.map(each => identify(pidOf(each.pidFile)))
    await supervisor.stop()
    expect(written().filter(line => line.startsWith('end'))).toEqual(['end front', 'end two', 'end one'])
    expect(identities.every(identity => identity !== null && !isRunning(identity))).toBe(true)
    expect(units.some(each => existsSync(each.pidFile))).toBe(false)
  })

  test('one that cannot start is reported at once, and those that wait beside it are stopped', async () => {
    const supervisor = createSupervisor(() => {}, QUICK)
    // It is never ready.
    const waits = await unit('waits', 'setInterval(() => {}, 1_000)')
    let fail = (): void => {}
    const isWaiting = new Promise<void>(resolve => {
      fail = resolve
    })
    const waiting: Unit = {
      ...waits,
      start: async signal => {
        const starting = waits.start(signal)
        while (!existsSync(waits.pidFile)) await sleep(20)
        fail()
        return await starting
      },
    }
    const broken: Unit = {
      name: 'broken',
      start: async () => {
        await isWaiting
        throw new Error('its port is in use')
      },
    }
    const began = performance.now()
    await expect(supervisor.start([waiting, broken])).rejects.toThrow('its port is in use')
    // The one beside it would wait for a minute.
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(existsSync(waits.pidFile)).toBe(false)
    await supervisor.stop()
  })

  test('a child that dies is reported and started again', async () => {
    const lines: string[] = []
    const supervisor = createSupervisor(line => lines.push(line), QUICK)
    const one = await unit('dies')
    await supervisor.start([one])
    const before = pidOf(one.pidFile)
    process.kill(before, 'SIGKILL')
    while (!lines.some(line => line.includes('runs again'))) await sleep(20)
    expect(pidOf(one.pidFile)).not.toBe(before)
    expect(lines[0]).toContain('dies ended unexpectedly (SIGKILL)')
    await supervisor.stop()
  })

  test('a child that is killed over and over is started again every time', async () => {
    const lines: string[] = []
    const supervisor = createSupervisor(line => lines.push(line), QUICK)
    const one = await unit('killed')
    await supervisor.start([one])
    for (let time = 1; time <= QUICK.deathsMax + 2; time += 1) {
      process.kill(pidOf(one.pidFile), 'SIGKILL')
      while (lines.filter(line => line.includes('runs again')).length < time) await sleep(20)
    }
    await supervisor.stop()
  })

  test('a child that is killed while it starts, over and over, is not given up', async () => {
    const lines: string[] = []
    const supervisor = createSupervisor(line => lines.push(line), QUICK)
    const deaths = join(scratch, 'killed-early')
    // Dies by SIGKILL before it listens, all but the first and the last time.
    const early = `
      const { appendFileSync, readFileSync } = require('node:fs')
      appendFileSync(${JSON.stringify(deaths)}, 'x')
      const time = readFileSync(${JSON.stringify(deaths)}).length
      if (time > 1 && time < ${QUICK.deathsMax + 5}) process.kill(process.pid, 'SIGKILL')
      else { ${script('early')} }`
    const one = await unit('early', early)
    await supervisor.start([one])
    process.kill(pidOf(one.pidFile), 'SIGKILL')
    while (!lines.some(line => line.includes('runs again'))) await sleep(20)
    expect(readFileSync(deaths)).toHaveLength(QUICK.deathsMax + 5)
    await supervisor.stop()
  })

  test('a child that cannot start while one below it is away is not given up', async () => {
    const lines: string[] = []
    const supervisor = createSupervisor(line => lines.push(line), QUICK)
    const away = join(scratch, 'below-is-away')
    const below = await unit('below')
    const above = await unit(
      'above',
      `if (require('node:fs').existsSync(${JSON.stringify(away)})) process.exit(1)
      ${script('above')}; process.on('SIGUSR2', () => process.exit(1))`,
    )
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    let starts = 0
    const slow: Unit = {
      ...below,
      start: async signal => {
        starts += 1
        if (starts > 1) await released
        return below.start(signal)
      },
    }
    await supervisor.start([slow])
    await supervisor.start([above])
    writeFileSync(away, '')
    process.kill(pidOf(below.pidFile), 'SIGKILL')
    while (starts < 2) await sleep(20)
    process.kill(pidOf(above.pidFile), 'SIGUSR2')
    while (lines.filter(line => line.startsWith('above is started again')).length < QUICK.deathsMax + 3) await sleep(20)
    rmSync(away)
    while (!lines.includes('above runs again')) await sleep(20)
    release()
    await supervisor.stop()
    expect(lines.filter(line => line.startsWith('above is started again in')).at(-1)).toContain(' 0.02 s')
  })

  test('while the disk is full what dies waits for room, and is not given up', async () => {
    const lines: string[] = []
    let room = true
    const supervisor = createSupervisor(
      line => lines.push(line),
      { ...QUICK, deathsMax: 0 },
      () => room,
    )
    const one = await unit('full', `${script('full')}; process.on('SIGUSR2', () => process.exit(1))`)
    await supervisor.start([one])
    for (let time = 1; time <= 3; time += 1) {
      room = false
      process.kill(pidOf(one.pidFile), 'SIGUSR2')
      while (lines.filter(line => line.startsWith('The disk is full')).length < time) await sleep(20)
      room = true
      while (lines.filter(line => line.includes('runs again')).length < time) await sleep(20)
    }
    await supervisor.stop()
  })

  test('a child that runs and has failed is started again when there is room', async () => {
    const lines: string[] = []
    let room = false
    let failed = true
    let questions = 0
    const supervisor = createSupervisor(
      line => lines.push(line),
      QUICK,
      () => room,
    )
    const one: Unit = {
      ...(await unit('failed')),
      hasFailed: async () => {
        questions += 1
        return failed
      },
    }
    await supervisor.start([one])
    while (questions < 5) await sleep(20)
    expect(lines).toEqual([])
    room = true
    while (!lines.includes('failed runs again')) await sleep(20)
    failed = false
    expect(lines[0]).toBe('failed runs and has failed: it is started again')
    await supervisor.stop()
  })

  test('a child that keeps dying is given up, with its name', async () => {
    const supervisor = createSupervisor(() => {}, QUICK)
    // Soon after it was found to be ready.
    const source = script('sick').replace("r.end('ok')", "r.end('ok', () => setTimeout(() => process.exit(3), 50))")
    await supervisor.start([await unit('sick', source)])
    expect(await supervisor.gaveUp).toMatch(/^sick died 4 times/)
    await supervisor.stop()
  })

  test('a child that cannot start fails the start with the end of its log, and the others are stopped', async () => {
    const supervisor = createSupervisor(() => {}, QUICK)
    const good = await unit('good')
    const bad = await unit('bad', "console.error('no such setting'); process.exit(2)")
    await expect(supervisor.start([good, bad])).rejects.toThrow(/bad ended at once \(code 2\)[\s\S]*no such setting/)
    await supervisor.stop()
    expect(existsSync(good.pidFile)).toBe(false)
  })

  test('a stop while a child is still starting ends that child too', async () => {
    const supervisor = createSupervisor(() => {}, QUICK)
    const slow = await unit('slow', 'setInterval(() => {}, 1000)')
    const started = supervisor.start([slow])
    const refused = expect(started).rejects.toThrow()
    while (!existsSync(slow.pidFile)) await sleep(10)
    const identity = identify(pidOf(slow.pidFile))
    await supervisor.stop()
    await refused
    expect(identity && isRunning(identity)).toBe(false)
  })

  test('a child that ignores the polite signal is ended all the same', async () => {
    const supervisor = createSupervisor(() => {}, QUICK)
    const source = `${script('deaf')}; process.removeAllListeners('SIGTERM'); process.on('SIGTERM', () => {})`
    const deaf = await unit('deaf', source, 500)
    await supervisor.start([deaf])
    const identity = identify(pidOf(deaf.pidFile))
    await supervisor.stop()
    expect(identity && isRunning(identity)).toBe(false)
  })
})

describe('one start per data folder', () => {
  const holder = () => {
    const child = spawn('sleep', ['60'])
    const identity = identify(child.pid ?? 0)
    if (!identity) throw new Error('sleep did not start')
    return { child, identity }
  }

  test('a second start is refused while the first runs, and names it', () => {
    const folder = join(scratch, 'held')
    const { child, identity } = holder()
    writePidFile(join(folder, 'start.lock'), identity)
    expect(() => lockDataDir(folder)).toThrow(new RegExp(`already running on .* \\(pid ${identity.pid}\\)`))
    child.kill('SIGKILL')
  })

  test('the lock of a start that was killed is taken over, also when its pid is another process now', () => {
    const folder = join(scratch, 'stale')
    writePidFile(join(folder, 'start.lock'), { pid: process.pid, startedAt: 'another time' })
    const unlock = lockDataDir(folder)
    expect(readPidFile(join(folder, 'start.lock'))).toEqual(identify(process.pid))
    expect(() => lockDataDir(folder)).toThrow('already running')
    unlock()
    expect(existsSync(join(folder, 'start.lock'))).toBe(false)
  })

  test('a lock that is not whole is taken over', () => {
    const folder = join(scratch, 'torn')
    lockDataDir(folder)()
    writeFileSync(join(folder, 'start.lock'), '{"pid":')
    lockDataDir(folder)()
  })
})

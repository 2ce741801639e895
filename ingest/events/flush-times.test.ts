import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFlushTimes } from './flush-times.ts'

/** Time and tasks by hand; every flush sends all that waits. */
function rig() {
  let nowMs = 0
  let waiting = 0
  const flushes: { atMs: number; events: number }[] = []
  const deferred: (() => void)[] = []
  const timers = new Set<{ atMs: number; task: () => void }>()
  const times = createFlushTimes({
    defer: task => deferred.push(task),
    later: (task, ms) => {
      const timer = { atMs: nowMs + ms, task }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    nowMs: () => nowMs,
    waiting: () => waiting,
    flush: () => {
      const events = waiting
      waiting = 0
      flushes.push({ atMs: nowMs, events })
      return events
    },
  })
  return {
    flushes,
    pending: () => deferred.length + timers.size,
    bring(events: number): void {
      for (let each = 0; each < events; each += 1) {
        waiting += 1
        times.wanted()
      }
      for (const task of deferred.splice(0)) task()
    },
    pass(ms: number): void {
      nowMs += ms
      for (const timer of [...timers]) {
        if (timer.atMs > nowMs) continue
        timers.delete(timer)
        timer.task()
      }
    },
  }
}

describe('when events are sent', () => {
  test('one after the other: each at once, however soon it comes', () => {
    const { flushes, bring, pass } = rig()
    for (let each = 0; each < 5; each += 1) {
      bring(1)
      pass(0.1)
    }
    expect(flushes.map(({ events }) => events)).toEqual([1, 1, 1, 1, 1])
  })

  test('after many, the next wait for more, and not for long', () => {
    const { flushes, bring, pass } = rig()
    bring(20)
    pass(0.5)
    bring(3)
    pass(0.5)
    bring(4)
    expect(flushes.length).toBe(1)
    pass(4)
    expect(flushes).toEqual([
      { atMs: 0, events: 20 },
      { atMs: 5, events: 7 },
    ])
  })

  test('a flush of few ends the waiting, and so does a pause', () => {
    const { flushes, bring, pass } = rig()
    bring(20)
    pass(1)
    bring(3)
    pass(4)
    bring(1)
    bring(1)
    pass(10)
    bring(20)
    expect(flushes.map(({ events }) => events)).toEqual([20, 3, 1, 1, 20])
  })

  test('enough do not wait for more', () => {
    const { flushes, bring, pass, pending } = rig()
    bring(20)
    pass(0.1)
    bring(199)
    expect(flushes.length).toBe(1)
    bring(1)
    expect(flushes.at(-1)).toEqual({ atMs: 0.1, events: 200 })
    expect(pending()).toBe(0)
  })

  test('whatever comes when: all of it is sent, and nothing waits longer than the pause', () => {
    const step = fc.record({ events: fc.integer({ min: 0, max: 250 }), ms: fc.double({ min: 0, max: 8, noNaN: true }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const { flushes, bring, pass, pending } = rig()
        let brought = 0
        for (const { events, ms } of steps) {
          bring(events)
          brought += events
          pass(Math.min(ms, 5))
          pass(Math.max(0, ms - 5))
        }
        pass(5)
        expect(pending()).toBe(0)
        expect(flushes.reduce((sum, { events }) => sum + events, 0)).toBe(brought)
        expect(flushes.every(({ events }) => events > 0)).toBe(true)
      }),
    )
  })
})

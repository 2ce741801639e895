// What is known of a story can be said to the api.
import { expect, test } from 'vitest'
import { knownAt } from './known.ts'
import { liveStory } from './live/live-story.ts'

test('an ADDON that is enabled and ends at the same moment is not enabled', () => {
  // Its last action enables for no time what is not enabled then.
  const story = liveStory(7_038)
  const [last] = story.actions.flatMap(action =>
    action.type === 'ADDON' && action.until === action.at ? [action] : [],
  )
  if (!last) throw new Error('the story of this seed has such an action')
  const enabled = knownAt(story, last.at).phases.flatMap(phase => phase.enabled)
  expect(enabled.filter(({ start, end }) => end !== null && end <= start)).toEqual([])
  expect(enabled.some(({ start }) => start === last.at)).toBe(false)
})

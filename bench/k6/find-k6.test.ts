import { expect, test } from 'vitest'
import { whyNotBuilt } from './find-k6.ts'

test('a build that was ended for its time says so and what to do, whatever Go said last', () => {
  const text = whyNotBuilt({ killed: true, stderr: 'go: downloading google.golang.org/protobuf', message: 'killed' })
  expect(text).toMatch(/took longer than 30 minutes .* Run this again: .* continues from there\.$/)
  expect(text).not.toContain('downloading')
})

test('any other failure shows the last line of Go and the ways there are', () => {
  const text = whyNotBuilt({ killed: false, stderr: 'go: one\ngo: no network\n', message: 'failed' })
  expect(text).toMatch(/^k6 was not found and could not be built[\s\S]*Go said: go: no network$/)
})

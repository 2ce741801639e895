import { expect, test } from 'vitest'
import { claimBlock } from './ports.ts'

test('a block of ports that is claimed is not claimed again, also before anything listens on it', async () => {
  const claimed = [await claimBlock(), await claimBlock(), ...(await Promise.all([claimBlock(), claimBlock()]))]
  expect(new Set(claimed).size).toBe(4)
})

// Whether the files of this project follow each other in a few processes (vitest.config.ts), so that what is dear to start can be
// kept for the next file.
import { inject } from 'vitest'
import type {} from './global-setup.ts'

/** True in the project `it`; false where each file has a process of its own, and where another runner starts the tests. */
export const followsOthers = (): boolean => inject('followsOthers') === true

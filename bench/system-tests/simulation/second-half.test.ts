// The other half of the seeds of simulation.test.ts.
import { testSeeds } from './seeds.ts'

testSeeds('second')

import type { Needing } from '../../../../testbed/src/needing.ts'
import type { HostedDriver } from '../../src/hosted/driver.ts'

/** A container engine that the conformance suite tests the driver of. */
export interface Subject {
  name: string
  /** Skips the tests if they cannot run here. */
  tests: Pick<Needing, 'describe'>
  /** An image with the files /etc/one and /etc/two and the programs true, false, sleep, cat, cp, printenv. */
  base: string
  /** The prefix of the names of images that it builds. */
  registry: string
  start(): Promise<void>
  stop(): Promise<void>
  open(installationId: string): HostedDriver
  /** Makes the engine unreachable. */
  breakOff(): Promise<void>
  recover(): Promise<void>
}

// One request, made from the seed and its number. The same seed and number give the same request, except for the ids of the
// world, cursors of earlier answers, and names that must be new.
import { throwDice, type Dice } from '../../dice.ts'
import type { Sent } from '../client.ts'
import type { Operation } from '../operations/operation.ts'
import type { Prepared } from '../world/states.ts'
import type { World } from '../world/world.ts'

/** `valid`: it should succeed. `near`: a few parts are wrong. `wild`: bytes that no client sends. */
export type Mode = 'valid' | 'near' | 'wild'

export interface Attempt extends Sent {
  number: number
  operation: Operation
  mode: Mode
  /** What was changed, in words. */
  changes: string[]
  /** Bytes for a connection of its own, instead of the request above. */
  raw: Buffer | null
  /** Whether the URL names only rows of the world. */
  hasOwnIds: boolean
}

/** Parts of earlier answers that later requests send back. */
export interface Harvest {
  cursors: string[]
  etags: string[]
}

export interface Scene {
  world: World
  /** Its rows and tokens are not to be seen or changed. */
  theirs: World
  prepared: Prepared
  harvest: Harvest
  /** Only values that are known to be accepted. */
  isSure: boolean
}

export function diceOf(seed: number, number: number): Dice {
  return throwDice(Math.imul(seed ^ 0x9e3779b9, 2654435761) ^ Math.imul(number + 1, 40503))
}

export function modeOf(dice: Dice, isFirst: boolean): Mode {
  const share = dice.next()
  return isFirst || share < 0.4 ? 'valid' : share < 0.85 ? 'near' : 'wild'
}

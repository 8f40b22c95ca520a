// Replays a log from any point to which its state is known. The state is small, so it can be stored and sent to a thread.
import { gunzipSync, gzipSync } from 'node:zlib'
import { Outline, type OutlineState } from './outline.ts'
import type { Row } from '../screen/row.ts'
import { Screen, type ScreenState } from '../screen/screen.ts'
import { wholeCharacters } from '../screen/utf8.ts'

export interface ReplayState {
  /** The bytes of the log up to here are contained. */
  offset: number
  /** The rows that can no longer change. */
  rows: number
  packed: Uint8Array
}

interface Unpacked {
  screen: ScreenState
  outline: OutlineState
}

export class Replay {
  readonly outline: Outline
  readonly #screen: Screen
  #offset: number
  #rows: number

  /** Calls `settle` with each row that can no longer change, and its number. */
  constructor(state: ReplayState | null, settle: (row: Row, number: number) => void) {
    const unpacked = state === null ? null : unpack(state.packed)
    this.outline = new Outline(unpacked?.outline)
    this.#screen = new Screen((row) => {
      const number = ++this.#rows
      this.outline.push(number, row)
      settle(row, number)
    }, unpacked?.screen)
    this.#offset = state?.offset ?? 0
    this.#rows = state?.rows ?? 0
  }

  /** Reads the bytes from the state's offset on. The first bytes of an incomplete character are left for the next call. */
  write(bytes: Uint8Array, isEnd: boolean): void {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    const whole = isEnd ? bytes.length : wholeCharacters(bytes, bytes.length)
    for (let at = 0; at < whole;) {
      const end = whole - at > pieceBytes ? at + wholeCharacters(bytes.subarray(at), pieceBytes) : whole
      this.#screen.write(decoder.decode(bytes.subarray(at, end)))
      at = end
    }
    this.#offset += whole
  }

  get state(): ReplayState {
    const unpacked: Unpacked = { screen: this.#screen.state, outline: this.outline.state }
    return {
      offset: this.#offset,
      rows: this.#rows,
      packed: gzipSync(JSON.stringify(unpacked), { level: 1 }),
    }
  }

  /** The rows that may still change. The first one's number is `state.rows + 1`. */
  get open(): Row[] {
    return this.#screen.rows
  }

  get settledRows(): number {
    return this.#rows
  }

  /** The outline as if the log ended here. Its groups are those since the state that this replay began with. */
  get outlineAtEnd(): Outline {
    const outline = new Outline(this.outline.state)
    outline.groups.push(...this.outline.groups)
    for (const [index, row] of this.open.entries()) outline.push(this.#rows + index + 1, row)
    return outline
  }

  /** Settles the last rows. */
  end(): void {
    this.#screen.end()
  }
}

/** Longer strings are slower to take apart. */
const pieceBytes = 64 * 1024

const unpack = (packed: Uint8Array): Unpacked => JSON.parse(gunzipSync(packed).toString()) as Unpacked

// Cuts the files of a cache into packs. A pack ends after a file that its name and size choose, so a file that is added,
// changed or removed changes its own pack and leaves the others as they were.
import type { FileInRoot } from './manifest.ts'

export interface Slice extends FileInRoot {
  /** In the file. */
  start: number
  length: number
}

export interface Pack {
  slices: Slice[]
  size: number
}

const MIB = 1024 * 1024
const LEAST_BYTES = MIB
/** How much usually follows after the least. */
const USUAL_BYTES = 4 * MIB
export const MOST_BYTES = 16 * MIB
/** Larger files have packs of their own. */
const PIECE_BYTES = 8 * MIB

export function cutPacks(files: readonly FileInRoot[], rootPaths: readonly string[]): Pack[] {
  const packs: Pack[] = []
  let slices: Slice[] = []
  let size = 0
  const flush = () => {
    if (slices.length > 0) packs.push({ slices, size })
    slices = []
    size = 0
  }
  for (const { root, file } of files) {
    if (file.size > PIECE_BYTES) {
      flush()
      for (let start = 0; start < file.size; start += PIECE_BYTES) {
        const length = Math.min(PIECE_BYTES, file.size - start)
        packs.push({ slices: [{ root, file, start, length }], size: length })
      }
      continue
    }
    if (file.size === 0) continue
    if (size + file.size > MOST_BYTES) flush()
    slices.push({ root, file, start: 0, length: file.size })
    size += file.size
    if (size >= LEAST_BYTES && endsPack(`${rootPaths[root] ?? ''}/${file.path}`, file.size)) flush()
  }
  flush()
  return packs
}

/** The slices of packs of these sizes. */
export function slicePacks(files: readonly FileInRoot[], sizes: readonly number[]): Slice[][] {
  const queue = files.filter(({ file }) => file.size > 0)
  let next = 0
  let start = 0
  return sizes.map((size) => {
    const slices: Slice[] = []
    for (let left = size; left > 0;) {
      const found = queue[next]
      if (found === undefined) throw new Error('the packs are longer than the files')
      const length = Math.min(left, found.file.size - start)
      slices.push({ ...found, start, length })
      left -= length
      start += length
      if (start === found.file.size) {
        next += 1
        start = 0
      }
    }
    return slices
  })
}

/** A larger file ends a pack more often, so that packs have about the same size whatever the sizes of the files. */
const endsPack = (path: string, size: number) => hash(path) / 2 ** 32 < size / USUAL_BYTES

/** FNV-1a, mixed once more because its high bits depend little on the last characters. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  return (value ^ (value >>> 13)) >>> 0
}

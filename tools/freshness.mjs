// Whether something was made from the present sources. A stamp beside it has a hash of their contents. Reading all of them takes
// a good part of a start, so a second file remembers their sizes and times: while these are the same, nothing is read.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'

const seenFile = (stamp) => `${stamp}-seen`

/** `hashOf` returns the hash of the contents of these files, and of `others`: what else it was made from. */
export function isFresh(stamp, { files, others = '' }, hashOf) {
  if (!existsSync(stamp)) return false
  const hash = readFileSync(stamp, 'utf8')
  const seen = look(`${hash}\n${others}\n`, files)
  if (existsSync(seenFile(stamp)) && readFileSync(seenFile(stamp), 'utf8') === seen) return true
  if (hashOf() !== hash) return false
  try {
    writeFileSync(seenFile(stamp), seen)
  } catch {
    // Then the next start reads the sources again.
  }
  return true
}

function look(beginning, files) {
  const sum = createHash('sha256').update(beginning)
  for (const file of files) {
    const { size, mtimeNs } = statSync(file, { bigint: true })
    sum.update(`${file} ${size} ${mtimeNs}\n`)
  }
  return sum.digest('hex')
}

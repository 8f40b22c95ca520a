import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Runs the work while no other process runs any under the same file; waits for one that does. */
export async function withLock(file, work) {
  const mine = `${file}.${process.pid}`
  writeFileSync(mine, nameOf(process.pid))
  try {
    await take(file, mine)
    try {
      return await work()
    } finally {
      rmSync(file, { force: true })
    }
  } finally {
    rmSync(mine, { force: true })
  }
}

async function take(file, mine) {
  let isTold = false
  for (;;) {
    try {
      linkSync(mine, file)
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const holder = readHolder(file)
    const pid = holder.split(' ')[0]
    if (holder !== '' && nameOf(pid) !== holder) removeStale(file, mine, holder)
    else {
      if (!isTold && pid) console.error(`Waiting for process ${pid}, which is preparing this checkout…`)
      isTold ||= pid !== ''
      await delay(100)
    }
  }
}

/** Moved aside first: what was moved may be the lock of someone who was faster, and then goes back. */
function removeStale(file, mine, holder) {
  const aside = `${mine}.stale`
  try {
    renameSync(file, aside)
    if (readHolder(aside) !== holder) linkSync(aside, file)
  } catch {
    // Another process is clearing up as well.
  } finally {
    rmSync(aside, { force: true })
  }
}

/** Empty when it was released just now. */
function readHolder(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Another process that got the same number later has another name, where the system tells its start. */
function nameOf(pid) {
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    if (error.code !== 'EPERM') return ''
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return String(pid)
  }
}

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Runs the work under a lock file that other processes wait for. They print what its process is `doing`. */
export async function withLock(file, work, doing = 'preparing this checkout') {
  const mine = `${file}.${process.pid}`
  writeFileSync(mine, nameOf(process.pid))
  try {
    await take(file, mine, doing)
    try {
      return await work()
    } finally {
      rmSync(file, { force: true })
    }
  } finally {
    rmSync(mine, { force: true })
  }
}

async function take(file, mine, doing) {
  let hasReported = false
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
      if (!hasReported && pid) console.error(`Waiting for process ${pid}, which is ${doing}…`)
      hasReported ||= pid !== ''
      await delay(100)
    }
  }
}

/** Moves the lock aside first. If it turns out to be another process's new lock, it is moved back. */
function removeStale(file, mine, holder) {
  const aside = `${mine}.stale`
  try {
    renameSync(file, aside)
    if (readHolder(aside) !== holder) linkSync(aside, file)
  } catch {
    // Another process deletes it as well.
  } finally {
    rmSync(aside, { force: true })
  }
}

/** Empty if it was just released. */
function readHolder(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** The process id and, on Linux, the start time, because ids are reused. */
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

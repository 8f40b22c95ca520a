/**
 * Stops this process when its parent is gone. npm and its shell end on SIGTERM without passing it on, so a process that npm
 * started would stay.
 */
export function stopWithParent(parent) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 1000)
  timer.unref()
}

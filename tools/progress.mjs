// Says on stderr what takes so long, one line for each part with its seconds; in a terminal a sign moves meanwhile.

const signs = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const turnMs = 100

/**
 * Runs `work` and prints `title` with the seconds it took. A failure prints no seconds: its message follows.
 *
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} work
 * @param {{ isTTY?: boolean, write(text: string): unknown }} output
 */
export async function step(title, work, output = process.stderr) {
  const startedMs = performance.now()
  const seconds = () => `${((performance.now() - startedMs) / 1000).toFixed(0)} s`
  if (!output.isTTY) {
    output.write(`${title}…\n`)
    const result = await work()
    output.write(`${title}: ${seconds()}\n`)
    return result
  }
  let turn = 0
  const show = () => output.write(`\r\u001B[K${signs[turn++ % signs.length]} ${title} ${seconds()}`)
  show()
  const moving = setInterval(show, turnMs)
  try {
    const result = await work()
    output.write(`\r\u001B[K✓ ${title} ${seconds()}\n`)
    return result
  } catch (error) {
    output.write('\r\u001B[K')
    throw error
  } finally {
    clearInterval(moving)
  }
}

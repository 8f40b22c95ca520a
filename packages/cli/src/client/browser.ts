import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { print, type Output } from '../command.ts'
import { Refused } from '../refused.ts'
import { oneLine } from './text.ts'

/** Shows a page that the server has named, and prints its address. With --json only prints it. */
export async function openPage(options: Output, address: string): Promise<void> {
  const url = oneLine(address)
  // A browser would act on other schemes.
  if (!/^https?:\/\//.test(url)) throw new Refused(`The server names no page: ${url}`)
  if (!options.json) await openBrowser(url)
  print(options, { url }, url)
}

/** False for example over SSH. */
export const hasBrowser = (env: NodeJS.ProcessEnv = process.env): boolean => browserCommand(env).length > 0

/** False if there is no browser that could show it. */
export async function openBrowser(url: string, env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const [program, ...args] = browserCommand(env)
  if (program === undefined) return false
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.unref()
  try {
    await once(child, 'spawn')
    return true
  } catch {
    return false
  }
}

function browserCommand(env: NodeJS.ProcessEnv): string[] {
  if (env['BROWSER']) return [env['BROWSER']]
  if (process.platform === 'darwin') return ['open']
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : []
}

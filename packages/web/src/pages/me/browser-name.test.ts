import { expect, it } from 'vitest'
import { browserOf } from './browser-name.ts'

it('names the browser and the system', () => {
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36'
  expect(browserOf(chrome)).toBe('Chrome on Linux')
  expect(browserOf(chrome.replace('Chrome', 'HeadlessChrome'))).toBe('Chrome on Linux')
  expect(browserOf('curl/8.1')).toBe('curl/8.1')
  expect(browserOf(null)).toBe('Unknown browser')
})

import { announceNow } from './announce.ts'

/** Plain http has no clipboard interface; there a selected field is copied. */
export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) await navigator.clipboard.writeText(text)
  else copySelected(text)
  announceNow('Copied')
}

function copySelected(text: string): void {
  const field = document.createElement('textarea')
  const focused = document.activeElement
  field.value = text
  field.className = 'visually-hidden'
  // A modal dialog makes everything outside of it inert.
  const place = focused?.closest('[role=dialog]') ?? document.body
  place.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
  if (focused instanceof HTMLElement) focused.focus()
}

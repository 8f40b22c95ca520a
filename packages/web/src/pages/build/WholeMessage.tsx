import { showLabel } from '../../parts/labels.ts'
import { useState } from 'react'
import { Dialog } from '../../parts/dialogs/Dialog.tsx'
import styles from './BuildFacts.module.css'

const shortEnough = 100

/** The heading shows the first line, in two lines at most. */
export function WholeMessage({ message }: { message: string | null }) {
  const [isOpen, setOpen] = useState(false)
  const text = (message ?? '').trim()
  if (text.length <= shortEnough && !text.includes('\n')) return null
  return (
    <>
      <button type="button" className={styles.more} onClick={() => setOpen(true)}>
        whole message
      </button>
      <Dialog title="Message of the build" isOpen={isOpen} onClose={() => setOpen(false)} size="wide">
        <p className={styles.message}>{showLabel(text)}</p>
      </Dialog>
    </>
  )
}

import { showLabel } from '../labels.ts'
import { Dialog as Base, DialogDismiss, DialogHeading } from '@ariakit/react/dialog'
import type { ReactNode } from 'react'
import { Icon } from '../Icon.tsx'
import styles from './Dialog.module.css'

interface Props {
  title: string
  isOpen: boolean
  onClose: () => void
  children: ReactNode
  /** Buttons, the main one last. */
  actions?: ReactNode
  size?: 'small' | 'wide'
}

/**
 * The focus begins at the first control: a field, or where there is none the button that changes nothing. So the button in the corner
 * comes last.
 */
export const Dialog = ({ title, isOpen, onClose, children, actions, size = 'small' }: Props) => (
  <Base
    open={isOpen}
    onClose={onClose}
    unmountOnHide
    backdrop={<div className={styles.backdrop} />}
    className={`${styles.dialog} ${styles[size]}`}
  >
    <DialogHeading className={styles.title}>{showLabel(title)}</DialogHeading>
    <div className={styles.content}>{children}</div>
    {actions !== undefined && <footer className={styles.actions}>{actions}</footer>}
    <DialogDismiss className={styles.close} aria-label="Close">
      <Icon name="x" />
    </DialogDismiss>
  </Base>
)

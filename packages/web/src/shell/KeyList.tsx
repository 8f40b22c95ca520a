import { useState } from 'react'
import { Dialog } from '../parts/dialogs/Dialog.tsx'
import { Checkbox } from '../parts/Field.tsx'
import { areLettersOn, listKeyActions, setLetters, showKeys } from '../parts/keys.ts'
import styles from './KeyList.module.css'

export function KeyList({ onClose }: { onClose: () => void }) {
  const [letters, remember] = useState(areLettersOn)
  return (
    <Dialog title="Keys" isOpen onClose={onClose}>
      <dl className={styles.list}>
        {listKeyActions().map(({ keys, label }) => (
          <div key={keys + label} className={styles.row}>
            <dt>
              <kbd className={styles.keys}>{showKeys(keys)}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label="Use keys of a single letter"
        checked={letters}
        onCheck={(areOn) => {
          setLetters(areOn)
          remember(areOn)
        }}
      />
    </Dialog>
  )
}

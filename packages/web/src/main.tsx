import './tokens.css'
import './base.css'
import { createRoot } from 'react-dom/client'

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<p>Millrace</p>)

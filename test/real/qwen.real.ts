import { tryCli } from './capabilities.ts';

tryCli('qwen');

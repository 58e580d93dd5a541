DROP TABLE blocks;

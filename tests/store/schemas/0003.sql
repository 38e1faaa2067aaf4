BEGIN TRANSACTION;
CREATE TABLE access_tokens (
	id TEXT NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created FLOAT NOT NULL, 
	created_by TEXT NOT NULL, 
	expires FLOAT NOT NULL, 
	last_used FLOAT, 
	revoked FLOAT, 
	PRIMARY KEY (id)
);
INSERT INTO "access_tokens" VALUES('df699c4454','daemon','login3','submit','6fdbfab324b2bf94543c258f7fd6037d50fe7f37c55a8eb041a7430a228f07d6',1.79529121022273278236e+09,'root',1.79788321022273278235e+09,NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0003');
CREATE TABLE clusters (
	name TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	seen FLOAT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "clusters" VALUES('delft',16,'simulated',1.79529120888373851781e+09);
INSERT INTO "clusters" VALUES('leiden',8,'simulated',1.79529120888568377491e+09);
CREATE TABLE components (
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	component INTEGER NOT NULL, 
	cluster TEXT NOT NULL, 
	processors INTEGER NOT NULL, 
	reserves BOOLEAN NOT NULL, 
	seq INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	step TEXT NOT NULL, 
	reservation BOOLEAN NOT NULL, 
	started BOOLEAN NOT NULL, 
	native_id TEXT, 
	submit_time FLOAT, 
	hosts TEXT NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	cause TEXT, 
	detail TEXT NOT NULL, 
	PRIMARY KEY (job, attempt, component)
);
INSERT INTO "components" VALUES(1,1,0,'delft',2,0,1,'gone','',0,1,'1',1.79529120901937174793e+09,'vm',1.79529120903075575833e+09,1.79529120903075575833e+09,0,NULL,'');
INSERT INTO "components" VALUES(2,1,0,'delft',2,0,2,'gone','',0,1,'2',1.79529120919234466552e+09,'vm',1.79529120919875574118e+09,1.79529120920275568965e+09,3,'exit','');
INSERT INTO "components" VALUES(3,1,0,'delft',4,1,3,'gone','',1,1,'3',1.79529120936513900759e+09,'vm',1.79529120947475576402e+09,1.79529120947875571248e+09,0,NULL,'');
INSERT INTO "components" VALUES(3,1,1,'leiden',4,1,3,'gone','',1,1,'1',1.79529120936678576467e+09,'vm',1.79529120947875571248e+09,1.79529120947875571248e+09,0,NULL,'');
INSERT INTO "components" VALUES(5,1,0,'delft',2,0,4,'gone','',0,1,'4',1.795291209891356945e+09,'vm',1.79529120989475560188e+09,1.79529120989875578878e+09,0,NULL,'');
INSERT INTO "components" VALUES(6,1,0,'delft',2,0,5,'started','',0,1,'5',1.79529121034643125535e+09,'vm',1.79529121035075569156e+09,NULL,NULL,NULL,'RUNNING');
INSERT INTO "components" VALUES(7,1,0,'delft',4,1,6,'started','',1,1,'6',1.7952912105540943145e+09,'vm',1.7952912106627557277e+09,NULL,NULL,NULL,'RUNNING');
INSERT INTO "components" VALUES(7,1,1,'leiden',4,1,6,'started','',1,1,'2',1.7952912105558178425e+09,'vm',1.7952912106707556248e+09,NULL,NULL,NULL,'RUNNING');
INSERT INTO "components" VALUES(8,1,0,'delft',2,0,7,'started','',0,1,'7',1.79529121073369383812e+09,'vm',1.79529121074675583839e+09,NULL,NULL,NULL,'RUNNING');
INSERT INTO "components" VALUES(9,1,0,'delft',1,0,8,'started','clean',0,1,'8',1.79529121090756463999e+09,'vm',1.79529121091218829154e+09,NULL,NULL,NULL,'');
CREATE TABLE events (
	id INTEGER NOT NULL, 
	time FLOAT NOT NULL, 
	job INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	what TEXT NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "events" VALUES(1,1.79529120900760388369e+09,1,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(2,1.79529120900760388369e+09,1,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(3,1.79529120900760388369e+09,1,1,'submitting','{}');
INSERT INTO "events" VALUES(4,1.79529120902115821843e+09,1,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "1"}');
INSERT INTO "events" VALUES(5,1.79529120904791665083e+09,1,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(6,1.79529120904791665083e+09,1,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(7,1.79529120904791665083e+09,1,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(8,1.7952912091875424385e+09,2,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(9,1.7952912091875424385e+09,2,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(10,1.7952912091875424385e+09,2,1,'submitting','{}');
INSERT INTO "events" VALUES(11,1.79529120919386124609e+09,2,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "2"}');
INSERT INTO "events" VALUES(12,1.79529120922151422495e+09,2,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(13,1.79529120922151422495e+09,2,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 3}');
INSERT INTO "events" VALUES(14,1.79529120922151422495e+09,2,1,'failed','{"why": "component 0 in delft: its script ended with exit code 3", "exit_code": 3}');
INSERT INTO "events" VALUES(15,1.79529120935749745367e+09,3,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(16,1.79529120935749745367e+09,3,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(17,1.79529120936263489717e+09,3,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(18,1.79529120936330962177e+09,3,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(19,1.79529120936330962177e+09,3,1,'submitting','{}');
INSERT INTO "events" VALUES(20,1.79529120936742496491e+09,3,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "3"}');
INSERT INTO "events" VALUES(21,1.79529120936976695059e+09,3,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "1"}');
INSERT INTO "events" VALUES(22,1.79529120936976695059e+09,3,1,'waiting','{}');
INSERT INTO "events" VALUES(23,1.79529120939660215379e+09,3,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(24,1.79529120939816737171e+09,3,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(25,1.79529120945158433917e+09,3,1,'opened','{}');
INSERT INTO "events" VALUES(26,1.79529120948844408988e+09,3,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(27,1.79529120948844408988e+09,3,1,'ended','{"component": 1, "cluster": "leiden", "exit_code": 0}');
INSERT INTO "events" VALUES(28,1.79529120949197530743e+09,3,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(29,1.79529120949197530743e+09,3,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(30,1.79529120949197530743e+09,3,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(31,1.79529120972290635112e+09,4,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(32,1.79529120979921293262e+09,4,0,'cancel','{"by": "root"}');
INSERT INTO "events" VALUES(33,1.79529120979921293262e+09,4,0,'cancelled','{"why": "cancelled by root"}');
INSERT INTO "events" VALUES(34,1.79529120988520431512e+09,5,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(35,1.79529120988520431512e+09,5,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(36,1.7952912098897747993e+09,5,1,'files sent','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10}');
INSERT INTO "events" VALUES(37,1.7952912098897747993e+09,5,1,'submitting','{}');
INSERT INTO "events" VALUES(38,1.79529120989257025718e+09,5,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "4"}');
INSERT INTO "events" VALUES(39,1.79529120992098283763e+09,5,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(40,1.79529120992098283763e+09,5,1,'ended','{"component": 0, "cluster": "delft", "exit_code": 0}');
INSERT INTO "events" VALUES(41,1.79529120992461776735e+09,5,1,'results back','{"component": 0, "cluster": "delft", "files": 1, "bytes": 10, "folder": "@FOLDER@/metabroker-5.0"}');
INSERT INTO "events" VALUES(42,1.79529120992461776735e+09,5,1,'completed','{"why": "", "exit_code": 0}');
INSERT INTO "events" VALUES(43,1.79529121034236454962e+09,6,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(44,1.79529121034236454962e+09,6,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(45,1.79529121034236454962e+09,6,1,'submitting','{}');
INSERT INTO "events" VALUES(46,1.79529121034795212741e+09,6,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "5"}');
INSERT INTO "events" VALUES(47,1.79529121037909722329e+09,6,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(48,1.79529121054558300969e+09,7,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(49,1.79529121054558300969e+09,7,1,'placed','{"clusters": ["delft", "leiden"], "processors": [4, 4]}');
INSERT INTO "events" VALUES(50,1.79529121055096316334e+09,7,1,'reserved','{"component": 1, "cluster": "leiden", "processors": 4}');
INSERT INTO "events" VALUES(51,1.79529121055232548714e+09,7,1,'reserved','{"component": 0, "cluster": "delft", "processors": 4}');
INSERT INTO "events" VALUES(52,1.79529121055232548714e+09,7,1,'submitting','{}');
INSERT INTO "events" VALUES(53,1.7952912105569326877e+09,7,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "6"}');
INSERT INTO "events" VALUES(54,1.7952912105569326877e+09,7,1,'submitted','{"component": 1, "cluster": "leiden", "native_id": "2"}');
INSERT INTO "events" VALUES(55,1.7952912105569326877e+09,7,1,'waiting','{}');
INSERT INTO "events" VALUES(56,1.79529121058370566372e+09,7,1,'at the barrier','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(57,1.79529121058525824544e+09,7,1,'at the barrier','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(58,1.79529121062815546984e+09,7,1,'opened','{}');
INSERT INTO "events" VALUES(59,1.79529121067908358573e+09,7,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(60,1.79529121067908358573e+09,7,1,'started','{"component": 1, "cluster": "leiden", "hosts": "vm"}');
INSERT INTO "events" VALUES(61,1.79529121072983026503e+09,8,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(62,1.79529121072983026503e+09,8,1,'placed','{"clusters": ["delft"], "processors": [2]}');
INSERT INTO "events" VALUES(63,1.79529121072983026503e+09,8,1,'submitting','{}');
INSERT INTO "events" VALUES(64,1.79529121073963427541e+09,8,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "7"}');
INSERT INTO "events" VALUES(65,1.79529121076658105854e+09,8,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(66,1.79529121090316510197e+09,9,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(67,1.79529121090316510197e+09,9,1,'placed','{"clusters": ["delft"], "processors": [1]}');
INSERT INTO "events" VALUES(68,1.79529121090316510197e+09,9,1,'submitting','{}');
INSERT INTO "events" VALUES(69,1.79529121090903735161e+09,9,1,'submitted','{"component": 0, "cluster": "delft", "native_id": "8"}');
INSERT INTO "events" VALUES(70,1.79529121092796683308e+09,9,1,'started','{"component": 0, "cluster": "delft", "hosts": "vm"}');
INSERT INTO "events" VALUES(71,1.79529121108980417248e+09,10,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(72,1.79529121119266915325e+09,11,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(73,1.79529121128482794765e+09,12,0,'submitted','{"user": "root", "hold": false}');
INSERT INTO "events" VALUES(74,1.79529121138482141489e+09,13,0,'submitted','{"user": "root", "hold": true}');
INSERT INTO "events" VALUES(75,1.79529121297925519946e+09,9,1,'cancel','{"by": "root"}');
CREATE TABLE facts (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "facts" VALUES('instance','4fd94808');
INSERT INTO "facts" VALUES('policy memory','{"clusters": ["delft", "leiden"], "memory": [12, [], []]}');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	sizes JSON NOT NULL, 
	clusters JSON, 
	queue TEXT NOT NULL, 
	local TEXT, 
	home TEXT, 
	time_limit INTEGER NOT NULL, 
	submit_time FLOAT NOT NULL, 
	seq INTEGER NOT NULL, 
	queued_at FLOAT NOT NULL, 
	attempt INTEGER NOT NULL, 
	submission_failures INTEGER NOT NULL, 
	completion_failures INTEGER NOT NULL, 
	start_time FLOAT, 
	end_time FLOAT, 
	exit_code INTEGER, 
	deadline FLOAT, 
	goal TEXT, 
	"by" TEXT NOT NULL, stages_in BOOLEAN DEFAULT 0 NOT NULL, stages_out BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "jobs" VALUES(1,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79529120900760388369e+09,1,1.79529120900760388369e+09,1,0,0,1.79529120903075575833e+09,1.79529120904791665083e+09,0,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(2,'root','job.sh','FAILED','component 0 in delft: its script ended with exit code 3','[2]','null','',NULL,NULL,3600,1.7952912091875424385e+09,2,1.7952912091875424385e+09,1,0,1,1.79529120919875574118e+09,1.79529120922151422495e+09,3,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(3,'root','job.sh','COMPLETED','','[4, 4]','null','',NULL,NULL,3600,1.79529120935749745367e+09,3,1.79529120935749745367e+09,1,0,0,1.79529120945158433917e+09,1.79529120949197530743e+09,0,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(4,'root','job.sh','CANCELLED','cancelled by root','[1]','null','',NULL,NULL,3600,1.79529120972290635112e+09,0,0.0,0,0,0,NULL,1.79529120979921293262e+09,NULL,NULL,NULL,'root',0,0);
INSERT INTO "jobs" VALUES(5,'root','job.sh','COMPLETED','','[2]','null','',NULL,NULL,3600,1.79529120988520431512e+09,4,1.79529120988520431512e+09,1,0,0,1.79529120989475560188e+09,1.79529120992461776735e+09,0,NULL,NULL,'',1,1);
INSERT INTO "jobs" VALUES(6,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79529121034236454962e+09,5,1.79529121034236454962e+09,1,0,0,1.79529121035075569156e+09,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(7,'root','job.sh','RUNNING','','[4, 4]','null','',NULL,NULL,3600,1.79529121054558300969e+09,6,1.79529121054558300969e+09,1,0,0,1.79529121062815546984e+09,NULL,NULL,1.79529484062815546984e+09,NULL,'',0,0);
INSERT INTO "jobs" VALUES(8,'root','job.sh','RUNNING','','[2]','null','',NULL,NULL,3600,1.79529121072983026503e+09,7,1.79529121072983026503e+09,1,0,0,1.79529121074675583839e+09,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(9,'root','job.sh','RUNNING','cancelled by root; waits until its clusters have ended it','[1]','null','',NULL,NULL,3600,1.79529121090316510197e+09,8,1.79529121090316510197e+09,1,0,0,1.79529121091218829154e+09,NULL,NULL,NULL,'cancel','root',0,0);
INSERT INTO "jobs" VALUES(10,'root','job.sh','QUEUED','','[16]','null','',NULL,NULL,3600,1.79529121108980417248e+09,9,1.79529121108980417248e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(11,'root','job.sh','QUEUED','','[8, 8]','null','',NULL,NULL,3600,1.79529121119266915325e+09,10,1.79529121119266915325e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(12,'root','job.sh','QUEUED','','[8]','["leiden"]','','leiden',NULL,3600,1.79529121128482794765e+09,11,1.79529121128482794765e+09,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "jobs" VALUES(13,'root','job.sh','HELD','held by root at submission','[2]','null','',NULL,NULL,3600,1.79529121138482141489e+09,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,'',0,0);
CREATE TABLE scripts (
	job INTEGER NOT NULL, 
	user TEXT NOT NULL, 
	request_id TEXT, 
	secret TEXT NOT NULL, 
	script BLOB NOT NULL, 
	spec JSON NOT NULL, 
	PRIMARY KEY (job), 
	UNIQUE (user, request_id)
);
INSERT INTO "scripts" VALUES(1,'root','9d10e420-ea09-4f7e-8ea9-9f09df810a2b','a8648fd82076f005d9c76acc',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(2,'root','d34dcaac-89c1-4d91-9f3c-f7cb1913f6e7','55901393a6b8d0ffdb95d701',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["3", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(3,'root','569aa2d4-7878-4fd2-b2ba-1fdcb5cda247','5f4d5be47e22548f8b570b40',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(4,'root','2d777d65-aa01-4ca9-9a4e-ce520d98e92d','e7b7d598de3714d9c891d0df',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(5,'root','172fa65f-f2e5-4504-aff5-b674c820d543','044a7db2067feb840d2d1f92',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": ["input"], "stage_out": ["*"], "submit_dir": "@FOLDER@", "owner": null}');
INSERT INTO "scripts" VALUES(6,'root','84ab0d59-b92e-4e85-8f38-e1ae55bcbe2c','e89c4aeb093b682458b8a917',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(7,'root','de6fd88d-4886-48ee-b7cc-cea13b07973f','5c91ce80df206034cdac8917',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(8,'root','once','9d681886ad4b195ed9b58e73',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(9,'root','43abc57b-e3c7-44f6-8eaf-cceccc98a004','daaefd0530e5f737b54b6fde',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", "end"], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(10,'root','b047b2de-851d-4136-b62b-12b0fe35d7d8','f159c8a31da05befd3a1c3f0',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(11,'root','e6ae15bd-b452-4b1f-97d5-1a9a6bb6fa8b','9699130f285def571a94f1ee',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(12,'root','70cb70cd-1165-4a29-8bc5-db9646060862','b8cc0651648739af87928794',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
INSERT INTO "scripts" VALUES(13,'root','1ba48d7f-3125-449a-b2e9-af0017899c4d','dd07a0b5d8d38ed92a7f2e27',X'23212F62696E2F73680A74726170202222205445524D0A7768696C65205B202D6E2022243222205D202626205B2021202D652022243222205D3B20646F20736C65657020302E30353B20646F6E650A657869742024310A','{"name": "job.sh", "script_name": "job.sh", "args": ["0", ""], "chdir": "@FOLDER@", "output": null, "error": null, "environment": {}, "native": {}, "stage_in": [], "stage_out": [], "submit_dir": null, "owner": null}');
CREATE INDEX components_by_phase ON components (phase);
CREATE INDEX components_by_seq ON components (seq);
CREATE INDEX events_by_job ON events (job);
CREATE INDEX jobs_by_end ON jobs (end_time);
CREATE INDEX jobs_by_state ON jobs (state);
CREATE INDEX access_tokens_by_user ON access_tokens (user);
COMMIT;
